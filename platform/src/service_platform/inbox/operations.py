"""What operators can do about events that did not take effect, as operator actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.ops import (
    Action,
    ActionContext,
    ActionInput,
    BulkInput,
    BulkResult,
    ListInput,
    bulk,
    listing,
)
from service_platform.pagination import Page, PageRequest, Position

from .dead_letters import DeadLetterOffice, State, dead_letters, pending_retries
from .errors import DeadLetterNameless, DeadLetterNotFound, DeadLetterResolved
from .letter_rows import DeadLetterRecord, DeadLetterRow, PendingRetryRow
from .operation_messages import MESSAGES

_Event = Annotated[str | None, Field(max_length=200, description="Only this event", examples=["order.placed"])]
_Consumer = Annotated[
    str | None, Field(max_length=200, description="Only this consumer's", examples=["payment.open-payment"])
]
_Key = Annotated[str | None, Field(max_length=1000, description="Only of this key", examples=["018f3c1e"])]
_Error = Annotated[
    str | None,
    Field(min_length=1, max_length=500, description="Only with this in the last error's text", examples=["timeout"]),
]
_From = Annotated[AwareDatetime | None, Field(description="Only dead since then", examples=["2026-03-01T09:00:00Z"])]
_Before = Annotated[AwareDatetime | None, Field(description="Only dead before", examples=["2026-03-01T10:00:00Z"])]


class LetterFilter(ActionInput):
    """Which dead letters: those that all the given filters fit."""

    event: _Event = None
    consumer: _Consumer = None
    key: _Key = None
    error: _Error = None
    died_from: _From = None
    died_before: _Before = None

    async def find(
        self,
        session: AsyncSession,
        *,
        limit: int,
        state: State = "dead",
        only_named: bool = False,
        after: UUID | None = None,
    ) -> list[DeadLetterRow]:
        """Up to `limit` of them, the oldest first."""
        letters = await dead_letters(
            session,
            event_name=self.event,
            consumer=self.consumer,
            key=self.key,
            error=self.error,
            died_from=self.died_from,
            died_before=self.died_before,
            state=state,
            only_named=only_named,
            after=after,
            limit=limit,
        )
        return [DeadLetterRow.model_validate(letter) for letter in letters]


class ListDeadLetters(ListInput, LetterFilter):
    """Which dead letters to list."""

    state: Annotated[State, Field(description="What waits (dead), or what was decided about")] = "dead"


class RequeueDeadLetters(BulkInput, LetterFilter):
    """Which dead letters to requeue."""


class OneDeadLetter(ActionInput):
    """Which dead letter."""

    id: Annotated[UUID, Field(description="The dead letter's id", examples=["6f1d2e5a-3d8e-4b8b-9d57-0d7a1b6f0c11"])]


class DiscardDeadLetter(OneDeadLetter):
    """Which dead letter, and why."""

    reason: Annotated[
        str, Field(min_length=3, max_length=500, description="Why it may be lost", examples=["refunded by hand"])
    ]


class ListRetries(ListInput):
    """Which retries to list."""

    event: _Event = None
    consumer: _Consumer = None
    key: _Key = None


class DeadLetterDecision(BaseModel):
    """What became of a dead letter. `handled`: it had taken effect after all, so it will not run again."""

    model_config = ConfigDict(frozen=True)

    id: Annotated[UUID, Field(examples=["6f1d2e5a-3d8e-4b8b-9d57-0d7a1b6f0c11"])]
    decision: Annotated[Literal["requeued", "handled", "discarded"], Field(examples=["requeued"])]


async def _list(given: ListDeadLetters, page: PageRequest, context: ActionContext) -> Sequence[DeadLetterRow]:
    after = page.after.id if page.after is not None else None
    return await given.find(context.session, limit=page.rows_to_read, state=given.state, after=after)


async def _show(given: OneDeadLetter, context: ActionContext) -> DeadLetterRecord:
    found = await dead_letters(context.session, letter=given.id, state=None, limit=1)
    if not found:
        raise DeadLetterNotFound(dead_letter_id=str(given.id))
    return DeadLetterRecord.of(found[0])


async def _requeue(given: OneDeadLetter, context: ActionContext) -> DeadLetterDecision:
    decision = await DeadLetterOffice(context.service).requeue(context.tx, given.id)
    return DeadLetterDecision(id=given.id, decision=decision)


async def _discard(given: DiscardDeadLetter, context: ActionContext) -> DeadLetterDecision:
    await DeadLetterOffice(context.service).discard(context.tx, given.id, given.reason)
    return DeadLetterDecision(id=given.id, decision="discarded")


async def _requeueable(given: RequeueDeadLetters, rows: int, context: ActionContext) -> Sequence[DeadLetterRow]:
    return await given.find(context.session, limit=rows, only_named=True)


async def _list_retries(given: ListRetries, page: PageRequest, context: ActionContext) -> Sequence[PendingRetryRow]:
    retries = await pending_retries(
        context.session,
        event_name=given.event,
        consumer=given.consumer,
        key=given.key,
        after=page.after.number if page.after is not None else 0,
        limit=page.rows_to_read,
    )
    return [PendingRetryRow.of(retry) for retry in retries]


_LETTER_COLUMNS = ("id", "died_at", "event_name", "consumer", "key", "attempts", "error")

LIST_DEAD_LETTERS: Final = listing(
    name="dead-letters list",
    messages=MESSAGES,
    input=ListDeadLetters,
    result=Page[DeadLetterRow],
    find=_list,
    position=lambda row: Position(row.died_at, row.id),
    columns=_LETTER_COLUMNS,
)
SHOW_DEAD_LETTER: Final = Action(
    name="dead-letters show",
    messages=MESSAGES,
    input=OneDeadLetter,
    result=DeadLetterRecord,
    changes=False,
    run=_show,
    refusals=(DeadLetterNotFound,),
    of="id",
)
REQUEUE_DEAD_LETTER: Final = Action(
    name="dead-letters requeue",
    messages=MESSAGES,
    input=OneDeadLetter,
    result=DeadLetterDecision,
    changes=True,
    run=_requeue,
    refusals=(DeadLetterNotFound, DeadLetterResolved, DeadLetterNameless),
    of="id",
)
REQUEUE_DEAD_LETTERS: Final = bulk(
    name="dead-letters requeue-all",
    messages=MESSAGES,
    input=RequeueDeadLetters,
    result=BulkResult[DeadLetterRow],
    find=_requeueable,
    each=REQUEUE_DEAD_LETTER,
    each_input=lambda row: OneDeadLetter(id=row.id),
    columns=_LETTER_COLUMNS,
)
DISCARD_DEAD_LETTER: Final = Action(
    name="dead-letters discard",
    messages=MESSAGES,
    input=DiscardDeadLetter,
    result=DeadLetterDecision,
    changes=True,
    run=_discard,
    refusals=(DeadLetterNotFound, DeadLetterResolved),
    of="id",
    example={"decision": "discarded"},
)
LIST_RETRIES: Final = listing(
    name="retries list",
    messages=MESSAGES,
    input=ListRetries,
    result=Page[PendingRetryRow],
    find=_list_retries,
    position=lambda row: Position.numbered(row.created_at, row.position),
    columns=("position", "due_at", "event_name", "consumer", "key", "is_head", "held_at", "attempts", "error"),
)
