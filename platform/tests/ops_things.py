"""Things with operator actions of their own, for the tests of what is made from a declaration."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator
from sqlalchemy import text

from service_platform.errors import Conflict, NotFound
from service_platform.messages import Catalogue
from service_platform.ops import (
    Action,
    ActionContext,
    ActionInput,
    ActionRegistry,
    BulkInput,
    BulkResult,
    ListInput,
    bulk,
    listing,
)
from service_platform.ops.operations import LIST_AUDIT
from service_platform.pagination import Page, PageRequest, Position


def _texts(english: str) -> dict[Any, str]:
    return {"en": english, "vi": f"{english} (vi)"}


MESSAGES = Catalogue(
    {
        "things": _texts("Things"),
        **{
            f"things {verb}{part}": _texts(f"{verb} things{part}")
            for verb in ("list", "show", "close", "close-all", "spoil")
            for part in ("", ".detail")
        },
        "thing-not-found": _texts("There is no such thing"),
        "thing-closed": _texts("The thing is closed already"),
        "thing-closed.detail": _texts("Since {reason}. Leave it."),
    }
)


class ThingNotFound(NotFound, messages=MESSAGES):
    slug = "thing-not-found"


class ThingClosed(Conflict, messages=MESSAGES):
    slug = "thing-closed"
    example: ClassVar = {"reason": "broken"}


class Thing(BaseModel):
    """A row that operators act on."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    id: Annotated[UUID, Field(examples=["6f1d2e5a-0000-4000-8000-000000000001"])]
    name: Annotated[str, Field(examples=["kettle"])]
    reason: Annotated[str | None, Field(examples=[None])]
    made_at: Annotated[datetime, Field(examples=["2026-03-01T09:30:00Z"])]


class OneThing(ActionInput):
    """Which thing."""

    id: Annotated[UUID, Field(description="Which one", examples=["6f1d2e5a-0000-4000-8000-000000000001"])]


class ListThings(ListInput):
    """Which things."""

    name: Annotated[str | None, Field(max_length=50, description="Only of this name", examples=["kettle"])] = None


class CloseThing(OneThing):
    """Which thing, and why."""

    reason: Annotated[str, Field(min_length=3, max_length=100, description="Why", examples=["broken"])]
    again: Annotated[bool, Field(description="Even if it is closed")] = False

    @model_validator(mode="after")
    def _no_again_without_word(self) -> CloseThing:
        if self.again and "again" not in self.reason:
            raise ValueError("a reason for closing again says 'again'")
        return self


class CloseThings(BulkInput):
    """Which things."""

    name: Annotated[str | None, Field(max_length=50, description="Only of this name", examples=["kettle"])] = None


async def _list(given: ListThings, page: PageRequest, context: ActionContext) -> Sequence[Thing]:
    at, last = page.after or (None, None)
    rows = await context.session.execute(
        text(
            """
            SELECT * FROM thing WHERE (CAST(:name AS text) IS NULL OR name = :name)
            AND (CAST(:at AS timestamptz) IS NULL OR (made_at, id) < (:at, CAST(:id AS uuid)))
            ORDER BY made_at DESC, id DESC LIMIT :rows
            """
        ),
        {
            "name": given.name,
            "at": at,
            "id": last,
            "rows": page.rows_to_read,
        },
    )
    return [Thing.model_validate(row) for row in rows]


async def _show(given: OneThing, context: ActionContext) -> Thing:
    row = (await context.session.execute(text("SELECT * FROM thing WHERE id = :id"), {"id": given.id})).first()
    if row is None:
        raise ThingNotFound(thing_id=str(given.id))
    return Thing.model_validate(row)


async def _close(given: CloseThing, context: ActionContext) -> Thing:
    row = (
        await context.session.execute(text("SELECT * FROM thing WHERE id = :id FOR UPDATE"), {"id": given.id})
    ).first()
    if row is None:
        raise ThingNotFound(thing_id=str(given.id))
    if row.reason is not None and not given.again:
        raise ThingClosed(thing_id=str(given.id), reason=row.reason)
    if row.name == "bomb":
        raise RuntimeError("broke \0 \ud800 at once\nwith a second line that holds a secret")
    changed = await context.session.execute(
        text("UPDATE thing SET reason = :reason WHERE id = :id RETURNING *"), {"id": given.id, "reason": given.reason}
    )
    return Thing.model_validate(changed.one())


async def _spoil(given: ActionInput, context: ActionContext) -> Thing:
    changed = await context.session.execute(text("UPDATE thing SET reason = 'spoiled' RETURNING *"))
    return Thing.model_validate(changed.first())


async def _open_ones(given: CloseThings, rows: int, context: ActionContext) -> Sequence[Thing]:
    found = await context.session.execute(
        text(
            """
            SELECT * FROM thing WHERE reason IS NULL AND (CAST(:name AS text) IS NULL OR name = :name)
            ORDER BY made_at, id LIMIT :rows
            """
        ),
        {"name": given.name, "rows": rows},
    )
    return [Thing.model_validate(row) for row in found]


LIST_THINGS = listing(
    name="things list",
    messages=MESSAGES,
    input=ListThings,
    result=Page[Thing],
    find=_list,
    position=lambda thing: Position(thing.made_at, thing.id),
    columns=("id", "name", "reason"),
)
SHOW_THING = Action(
    name="things show",
    messages=MESSAGES,
    input=OneThing,
    result=Thing,
    changes=False,
    run=_show,
    refusals=(ThingNotFound,),
    of="id",
)
CLOSE_THING = Action(
    name="things close",
    messages=MESSAGES,
    input=CloseThing,
    result=Thing,
    changes=True,
    run=_close,
    refusals=(ThingNotFound, ThingClosed),
    of="id",
)
SPOIL_THINGS = Action(
    name="things spoil", messages=MESSAGES, input=ActionInput, result=Thing, changes=False, run=_spoil
)
CLOSE_THINGS = bulk(
    name="things close-all",
    messages=MESSAGES,
    input=CloseThings,
    result=BulkResult[Thing],
    find=_open_ones,
    each=CLOSE_THING,
    each_input=lambda thing: CloseThing(id=thing.id, reason="all of them"),
    columns=("id", "name"),
)
THINGS = ActionRegistry([LIST_THINGS, SHOW_THING, CLOSE_THING, SPOIL_THINGS, CLOSE_THINGS, LIST_AUDIT])
