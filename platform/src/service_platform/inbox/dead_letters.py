"""What operators see of the events that did not take effect, and what they may do about a dead letter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction
from service_platform.errors import storable
from service_platform.outbox import append

from .errors import DeadLetterNameless, DeadLetterNotFound, DeadLetterResolved
from .statements import call
from .wake_up import WakeUp

State = Literal["dead", "requeued", "discarded"]

_DEAD_LETTERS = text(
    """
    SELECT id, consumer, source, key, event_id, event_name, headers, payload, origin, attempts, history, error,
           died_at, state, resolved_at, reason
    FROM dead_letter
    WHERE (CAST(:state AS text) IS NULL OR state = :state)
      AND (CAST(:event_name AS text) IS NULL OR event_name = :event_name)
      AND (CAST(:consumer AS text) IS NULL OR consumer = :consumer)
      AND (CAST(:key AS text) IS NULL OR key = :key)
      AND (CAST(:id AS uuid) IS NULL OR id = :id)
      AND (CAST(:error AS text) IS NULL OR strpos(lower(error), lower(:error)) > 0)
      AND (CAST(:died_from AS timestamptz) IS NULL OR died_at >= :died_from)
      AND (CAST(:died_before AS timestamptz) IS NULL OR died_at < :died_before)
      AND (event_id IS NOT NULL OR NOT :only_named)
      AND (
          CAST(:after AS uuid) IS NULL
          OR (died_at, id) > (SELECT a.died_at, a.id FROM dead_letter a WHERE a.id = :after)
      )
    ORDER BY died_at, id
    LIMIT :limit
    """
)
_PENDING_RETRIES = text(
    """
    SELECT position, consumer, source, key, event_id, event_name, origin, attempts, due_at, created_at, held_at,
           history, NOT EXISTS (
               SELECT FROM retry_ledger h
               WHERE h.consumer = r.consumer AND h.source = r.source AND h.key = r.key AND h.position < r.position
           ) AS is_head
    FROM retry_ledger r
    WHERE position > :after
      AND (CAST(:event_name AS text) IS NULL OR event_name = :event_name)
      AND (CAST(:consumer AS text) IS NULL OR consumer = :consumer)
      AND (CAST(:key AS text) IS NULL OR key = :key)
    ORDER BY position
    LIMIT :limit
    """
)
_REQUEUE = """
    SELECT verdict, for_consumer, for_source, for_key, wake_event, wake_attempts, wake_at
    FROM dead_letter_requeue($1)
"""
_DISCARD = """
    SELECT verdict, for_consumer, for_source, for_key, wake_event, wake_attempts, wake_at
    FROM dead_letter_discard($1, $2)
"""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that one consumer gave up. `event_id` is None for a record whose headers name no event.

    `payload` are the bytes as they came; `history` has an entry per failed attempt: attempt, at, error.
    """

    id: UUID
    consumer: str
    source: str
    key: str
    event_id: UUID | None
    event_name: str
    headers: Mapping[str, str]
    payload: bytes
    origin: str
    attempts: int
    history: Sequence[Mapping[str, Any]]
    error: str
    died_at: datetime
    state: State
    resolved_at: datetime | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class PendingRetry:
    """An event in the retry ledger. Only the head of a key is tried; `held_at` is set on a dead one that holds its key.

    `position` numbers the ledger; within a key it is the order in which the events will take effect.
    """

    position: int
    consumer: str
    source: str
    key: str
    event_id: UUID
    event_name: str
    origin: str
    attempts: int
    due_at: datetime
    created_at: datetime
    held_at: datetime | None
    history: Sequence[Mapping[str, Any]]
    is_head: bool


async def dead_letters(
    session: AsyncSession,
    *,
    event_name: str | None = None,
    consumer: str | None = None,
    key: str | None = None,
    state: State | None = "dead",
    letter: UUID | None = None,
    error: str | None = None,
    died_from: datetime | None = None,
    died_before: datetime | None = None,
    only_named: bool = False,
    after: UUID | None = None,
    limit: int = 100,
) -> list[DeadLetter]:
    """The dead letters in `state` (None: in any), the oldest first.

    `after` is the id of the last one of the page before. `error` is a part of the error's text, in any case.
    `only_named` leaves out those that cannot be requeued, since their headers name no event.
    """
    values = {
        "event_name": event_name,
        "consumer": consumer,
        "key": key,
        "state": state,
        "id": letter,
        "error": error,
        "died_from": died_from,
        "died_before": died_before,
        "only_named": only_named,
        "after": after,
        "limit": limit,
    }
    return [DeadLetter(*row) for row in await session.execute(_DEAD_LETTERS, values)]


async def pending_retries(
    session: AsyncSession,
    *,
    event_name: str | None = None,
    consumer: str | None = None,
    key: str | None = None,
    after: int = 0,
    limit: int = 100,
) -> list[PendingRetry]:
    """What is in the retry ledger, in its order. `after` is the position of the last one of the page before."""
    values = {"event_name": event_name, "consumer": consumer, "key": key, "after": after, "limit": limit}
    return [PendingRetry(*row) for row in await session.execute(_PENDING_RETRIES, values)]


class DeadLetterOffice:
    """Decides about the dead letters of `service`'s consumers. Each method works in the caller's transaction."""

    def __init__(self, service: str) -> None:
        self._service = service

    async def requeue(self, tx: Transaction, letter: UUID) -> Literal["requeued", "handled"]:
        """Have the event tried again, with all its attempts, behind what waits in its key.

        `handled`: it had taken effect after all, and will not again.
        Raises `DeadLetterNotFound`, `DeadLetterResolved` and `DeadLetterNameless`.
        """
        verdict = await self._decide(tx, letter, _REQUEUE)
        return "handled" if verdict == "handled" else "requeued"

    async def discard(self, tx: Transaction, letter: UUID, reason: str) -> None:
        """Give the event up for good. The row stays as evidence; a key that it held goes on.

        Raises `DeadLetterNotFound` and `DeadLetterResolved`.
        """
        await self._decide(tx, letter, _DISCARD, storable(reason))

    async def _decide(self, tx: Transaction, letter: UUID, statement: str, *values: object) -> str:
        [row] = await call(tx, statement, letter, *values)
        verdict, consumer, source, key, event_id, attempts, not_before = row
        if verdict is None:
            raise DeadLetterNotFound(dead_letter_id=str(letter))
        if verdict == "nameless":
            raise DeadLetterNameless(dead_letter_id=str(letter))
        if verdict.startswith("was "):
            raise DeadLetterResolved(dead_letter_id=str(letter), state=verdict.removeprefix("was "))
        if event_id is not None:
            append(WakeUp(consumer, source, key, event_id, attempts, not_before).message(self._service), tx)
        return str(verdict)
