"""What operators can see of the outbox, and what they can do about a message that the broker refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from service_platform.ops import Action, ActionContext, ActionInput, ListInput, listing
from service_platform.pagination import Page, PageRequest, Position

from .backlog import Backlog, BlockedKey, backlog, blocked_keys
from .operation_messages import MESSAGES
from .parked import ParkedRow, RowNotParked, discard, parked_rows, release

_LAST_POSITION = 2**63 - 1

_Position = Annotated[
    int, Field(ge=1, le=_LAST_POSITION, description="Its place in the outbox, from the list", examples=[4711])
]


class OneParkedMessage(ActionInput):
    """Which parked message."""

    position: _Position


class DiscardParkedMessage(OneParkedMessage):
    """Which parked message, and why."""

    reason: Annotated[
        str, Field(min_length=3, max_length=500, description="Why it may be lost", examples=["told to them by hand"])
    ]


class ParkedDecision(BaseModel):
    """What became of a parked message."""

    model_config = ConfigDict(frozen=True)

    position: Annotated[int, Field(examples=[4711])]
    decision: Annotated[Literal["released", "discarded"], Field(examples=["released"])]


async def _backlog(_given: ActionInput, context: ActionContext) -> Page[Backlog]:
    return Page[Backlog](items=list(await backlog(context.session)), next_cursor=None)


async def _blocked(_given: ListInput, page: PageRequest, context: ActionContext) -> Sequence[BlockedKey]:
    after = page.after.number if page.after is not None else 0
    return await blocked_keys(context.session, after=after, limit=page.rows_to_read)


async def _parked(_given: ListInput, page: PageRequest, context: ActionContext) -> Sequence[ParkedRow]:
    return await parked_rows(context.session, page)


async def _release(given: OneParkedMessage, context: ActionContext) -> ParkedDecision:
    await release(context.tx, given.position)
    return ParkedDecision(position=given.position, decision="released")


async def _discard(given: DiscardParkedMessage, context: ActionContext) -> ParkedDecision:
    await discard(context.tx, given.position, reason=given.reason)
    return ParkedDecision(position=given.position, decision="discarded")


SHOW_BACKLOG: Final = Action(
    name="outbox backlog",
    messages=MESSAGES,
    input=ActionInput,
    result=Page[Backlog],
    changes=False,
    run=_backlog,
)
LIST_BLOCKED_KEYS: Final = listing(
    name="outbox blocked",
    messages=MESSAGES,
    input=ListInput,
    result=Page[BlockedKey],
    find=_blocked,
    position=lambda row: Position.numbered(row.since, row.position),
)
LIST_PARKED_MESSAGES: Final = listing(
    name="parked list",
    messages=MESSAGES,
    input=ListInput,
    result=Page[ParkedRow],
    find=_parked,
    position=lambda row: Position(row.parked_at, row.message_id),
    columns=("position", "parked_at", "channel", "destination", "key", "payload_bytes", "tries", "error"),
)
RELEASE_PARKED_MESSAGE: Final = Action(
    name="parked release",
    messages=MESSAGES,
    input=OneParkedMessage,
    result=ParkedDecision,
    changes=True,
    run=_release,
    refusals=(RowNotParked,),
    of="position",
)
DISCARD_PARKED_MESSAGE: Final = Action(
    name="parked discard",
    messages=MESSAGES,
    input=DiscardParkedMessage,
    result=ParkedDecision,
    changes=True,
    run=_discard,
    refusals=(RowNotParked,),
    of="position",
    example={"decision": "discarded"},
)
