"""One action for many: found in one transaction, done one by one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from service_platform.messages import Catalogue

from .action import Action, ActionContext, ActionInput

LARGEST_BULK = 500
DEFAULT_BULK = 100


class BulkInput(ActionInput):
    """What every bulk action is given. Without `apply` it only shows what it would do."""

    limit: Annotated[int, Field(ge=1, le=LARGEST_BULK, description="How many at most, the oldest first")] = DEFAULT_BULK
    apply: Annotated[bool, Field(description="Do it. Without this, only show what would be done")] = False


BulkInputT = TypeVar("BulkInputT", bound=BulkInput)
RowT = TypeVar("RowT", bound=BaseModel)

Fate = Literal["found", "done", "refused", "failed", "not_tried"]


class BulkItem(BaseModel, Generic[RowT]):
    """One of many: `found` by a dry run, else what became of it. `reason` is the problem's slug or the error."""

    model_config = ConfigDict(frozen=True)

    fate: Annotated[Fate, Field(examples=["found"])]
    reason: Annotated[str | None, Field(examples=[None])] = None
    row: RowT


class BulkResult(BaseModel, Generic[RowT]):
    """What was found, and done when it was asked for. `more` says that others match beyond the limit."""

    model_config = ConfigDict(frozen=True)

    applied: Annotated[bool, Field(examples=[False])]
    more: Annotated[bool, Field(examples=[False])]
    items: list[BulkItem[RowT]]


@dataclass(frozen=True, kw_only=True)
class BulkAction(Action[BulkInputT, BulkResult[RowT]], Generic[BulkInputT, RowT]):
    """An action that does `each` to everything that it finds.

    Finding is one transaction with the call's own audit row; then each thing has a transaction and an audit row of its
    own, under the same correlation id. So a crash in between has done whole things only, and running it again finds
    the rest. Two operators at once share the work: what one has done is refused to the other, which goes on.
    """

    each: Action[Any, Any]
    each_input: Callable[[RowT], ActionInput]


def bulk(
    *,
    name: str,
    messages: Catalogue,
    input: type[BulkInputT],  # noqa: A002 - the field's name
    result: type[BulkResult[RowT]],
    find: Callable[[BulkInputT, int, ActionContext], Awaitable[Sequence[RowT]]],
    each: Action[Any, Any],
    each_input: Callable[[RowT], ActionInput],
    columns: tuple[str, ...] = (),
) -> BulkAction[BulkInputT, RowT]:
    """An action for many. `find` answers up to so many rows, the oldest first, so that what has an order keeps it."""

    item = BulkItem[Any]

    async def run(given: BulkInputT, context: ActionContext) -> BulkResult[RowT]:
        rows = await find(given, given.limit + 1, context)
        found = [item(fate="found", row=row) for row in rows[: given.limit]]
        return result(applied=False, more=len(rows) > given.limit, items=found)

    return BulkAction(
        name=name,
        messages=messages,
        input=input,
        result=result,
        changes=True,
        run=run,
        columns=columns,
        each=each,
        each_input=each_input,
    )
