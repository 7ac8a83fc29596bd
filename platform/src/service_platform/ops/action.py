"""One thing that an operator can do, declared as data."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction
from service_platform.errors import DomainError
from service_platform.messages import Catalogue, Language
from service_platform.pagination import (
    DEFAULT_PAGE,
    LARGEST_PAGE,
    LONGEST_CURSOR,
    Page,
    PageRequest,
    Position,
    decode_cursor,
)

_NAME = re.compile(r"[a-z]+(-[a-z]+)* [a-z]+(-[a-z]+)*")


@dataclass(frozen=True, slots=True)
class ActionContext:
    """What an action works in: its one transaction and the name of the service whose database it is.

    `outside` is what the service gave the runner for actions of its own, `seen` what the action's `look` returned.
    """

    tx: Transaction
    service: str
    outside: Any = None
    seen: Any = None

    @property
    def session(self) -> AsyncSession:
        """For queries."""
        return self.tx.session


class ActionInput(BaseModel):
    """What an action is given. A subclass describes, exemplifies and bounds each of its fields: the description is the
    command's help and the API's document, and the whole input stands in the audit row."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*", mode="after")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        if isinstance(value, str) and "\0" in value:
            raise ValueError("text must not contain the NUL character, which PostgreSQL cannot store")
        return value


class ListInput(ActionInput):
    """What every list is given: which page."""

    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE, description="How many items at most")] = DEFAULT_PAGE
    cursor: Annotated[
        str | None, Field(max_length=LONGEST_CURSOR, description="next_cursor of the page before, for the next one")
    ] = None

    def page(self) -> PageRequest:
        """The page that is wanted. Raises `CursorInvalid`."""
        return PageRequest(self.limit, decode_cursor(self.cursor) if self.cursor is not None else None)


InputT = TypeVar("InputT", bound=ActionInput)
ListInputT = TypeVar("ListInputT", bound=ListInput)
ResultT = TypeVar("ResultT", bound=BaseModel)
RowT = TypeVar("RowT", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Action(Generic[InputT, ResultT]):
    """An operator action: `<things> <verb>`, as in `dead-letters requeue`.

    `run` does all of it inside one transaction; when `changes` is false, the server refuses whatever it tries to
    write. It raises the `refusals`. `of` names the input's field that says which one thing is meant: the argument
    of the command, a step of the path over HTTP. `columns` are what a terminal shows of each row, all when empty.
    `example` is what an example of its result has beside its fields' own.

    `look` is for what has to be asked elsewhere, such as a provider's ledger: it runs first, outside of any
    transaction, and is given the runner's `outside`. What it returns is the context's `seen`, and may be old by the
    time `run` decides: `run` repeats in its statements what it relies on.

    `messages` hold, in every language, the group under `<things>`, a line about the action under its name, and when
    to use it under `<name>.detail`.
    """

    name: str
    messages: Catalogue
    input: type[InputT]
    result: type[ResultT]
    changes: bool
    run: Callable[[InputT, ActionContext], Awaitable[ResultT]]
    refusals: tuple[type[DomainError], ...] = ()
    of: str | None = None
    columns: tuple[str, ...] = ()
    example: Mapping[str, Any] = field(default_factory=dict)
    look: Callable[[InputT, Any], Awaitable[Any]] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise TypeError(f"an action is named like 'dead-letters requeue', not {self.name!r}")
        for key in (self.things, self.name, f"{self.name}.detail"):
            if key not in self.messages:
                raise TypeError(f"{self.name!r} lacks the text {key!r}: add it to its catalogue of messages")
        if self.of is not None and self.of not in self.input.model_fields:
            raise TypeError(f"{self.name!r} is said to act on one {self.of!r}, which {self.input.__name__} lacks")

    @property
    def things(self) -> str:
        """What it acts on: the first word."""
        return self.name.split(" ")[0]

    @property
    def verb(self) -> str:
        """What it does: the second word."""
        return self.name.split(" ")[1]

    def group(self, language: Language) -> str:
        """What the things are, for people."""
        return self.messages.text(self.things, language)

    def summary(self, language: Language) -> str:
        """What it does, for people, in one line."""
        return self.messages.text(self.name, language)

    def detail(self, language: Language) -> str:
        """When to use it and what holds after, for people."""
        return self.messages.text(f"{self.name}.detail", language)


def listing(
    *,
    name: str,
    messages: Catalogue,
    input: type[ListInputT],  # noqa: A002 - the field's name
    result: type[Page[RowT]],
    find: Callable[[ListInputT, PageRequest, ActionContext], Awaitable[Sequence[RowT]]],
    position: Callable[[RowT], Position],
    columns: tuple[str, ...] = (),
) -> Action[ListInputT, Page[RowT]]:
    """An action that shows a list page by page. `find` answers up to `rows_to_read` rows from after the position."""

    async def run(given: ListInputT, context: ActionContext) -> Page[RowT]:
        wanted = given.page()
        return result.of(await find(given, wanted, context), wanted, item=lambda row: row, position=position)

    return Action(name=name, messages=messages, input=input, result=result, changes=False, run=run, columns=columns)
