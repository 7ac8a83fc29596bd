"""The retry ledger: what happens to an event that could not be handled, and to those behind it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast
from uuid import UUID

import orjson
from sqlalchemy import text

from service_platform.database import Database, Transaction
from service_platform.errors import describe
from service_platform.outbox import append

from .claim import InboxClaim
from .dead_letter_copy import dead_letter_copy
from .incoming import IncomingEvent
from .statements import call
from .wake_up import WakeUp

Recorded = Literal["retrying", "buried", "handled", "stale"]

_ENTRY = text(
    """
    SELECT event_name, headers, payload, origin FROM retry_ledger
    WHERE consumer = :consumer AND source = :source AND key = :key AND event_id = :event_id AND attempts = :attempts
    """
)
_WAKE_OVERDUE = """
    SELECT for_consumer, for_source, for_key, wake_event, wake_attempts
    FROM retry_wake_overdue($1, make_interval(secs => $2::float8))
"""
_APPEND = "SELECT retry_append($1, $2, $3, $4, $5, $6, $7, $8)"
_SETTLE = "SELECT wake_event, wake_attempts, wake_at FROM retry_settle($1, $2, $3, $4)"
_FAIL = """
    SELECT verdict, failures, letter, wake_event, wake_attempts, wake_at
    FROM retry_fail($1, $2, $3, $4, $5, $6, $7, $8, $9::int2, $10::int4, make_interval(secs => $11::float8), $12, $13)
"""
_BURY_NAMELESS = "SELECT dead_letter_bury_nameless($1, $2, $3, $4, $5)"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Pauses between attempts: exponential from `first_seconds`, at most `limit_seconds`, with full jitter."""

    first_seconds: float = 1.0
    limit_seconds: float = 300.0

    def pause_after(self, failures: int) -> float:
        """Seconds until the next attempt, after the event failed `failures` times."""
        return random.uniform(0, min(self.limit_seconds, self.first_seconds * 2.0 ** min(failures - 1, 30)))


class RetryLedger:
    """The decisions about events of `service`'s consumers that do not simply run.

    Each method is one transaction: the decision, under the key's lock, and the messages that follow from it. The
    protocol with its races: docs/adr/0009-order-survives-a-retry.md.
    """

    def __init__(self, database: Database, service: str, policy: RetryPolicy | None = None) -> None:
        self._database = database
        self._service = service
        self._policy = policy or RetryPolicy()

    async def entry(self, wake_up: WakeUp) -> IncomingEvent | None:
        """The event that `wake_up` names, None when it is not in the ledger or its attempt is over."""
        async with self._database.read() as session:
            values = {
                "consumer": wake_up.consumer,
                "source": wake_up.source,
                "key": wake_up.key,
                "event_id": wake_up.event_id,
                "attempts": wake_up.attempts,
            }
            found = (await session.execute(_ENTRY, values)).one_or_none()
        if found is None:
            return None
        return IncomingEvent(
            consumer=wake_up.consumer,
            source=wake_up.source,
            key=wake_up.key,
            event_id=wake_up.event_id,
            name=found.event_name,
            headers=found.headers,
            payload=found.payload,
            origin=found.origin,
            attempts=wake_up.attempts,
        )

    async def append_behind(self, event: IncomingEvent) -> bool:
        """Put `event` behind what blocks its key. False when nothing does any more: deliver it again."""
        async with self._database.transaction() as tx:
            [(verdict,)] = await call(tx, _APPEND, *_identity(event), *_content(event))
        return bool(verdict != "free")

    async def settle(self, claim: InboxClaim) -> None:
        """Take an event out that has taken effect, and wake the one behind it. Nothing when it is not in."""
        async with self._database.transaction() as tx:
            for wake in await call(tx, _SETTLE, claim.consumer, claim.source, claim.key, claim.event_id):
                self._wake(tx, (claim.consumer, claim.source, claim.key), *wake)

    async def record_failure(
        self, event: IncomingEvent, error: BaseException, *, attempts_allowed: int, hold: bool = False
    ) -> Recorded:
        """Have `event` retried, or buried when it has failed `attempts_allowed` times; 0 buries it at once.

        Returns what became of it: `handled` and `stale` say that another delivery was quicker and nothing changed.
        `hold` keeps a buried event at the head of its key until an operator decides about it.
        """
        pause = self._policy.pause_after((event.attempts or 0) + 1)
        reason = describe(error)
        async with self._database.transaction() as tx:
            [(verdict, failures, letter, *wake)] = await call(
                tx, _FAIL, *_identity(event), *_content(event), event.attempts, attempts_allowed, pause, hold, reason
            )
            self._wake(tx, (event.consumer, event.source, event.key), *wake)
            if letter is not None:
                append(dead_letter_copy(event, letter, failures, reason, self._service), tx)
        return cast("Recorded", verdict)

    async def bury_nameless(
        self, *, key: str, headers: dict[str, str], payload: bytes, origin: str, error: BaseException
    ) -> None:
        """Bury a record whose headers name no event. `origin` knows it again when it is delivered twice."""
        reason = describe(error)
        async with self._database.transaction() as tx:
            [(letter,)] = await call(tx, _BURY_NAMELESS, key, orjson.dumps(headers).decode(), payload, origin, reason)
            if letter is not None:
                nameless = IncomingEvent("", "", key, letter, "", headers, payload, origin)
                append(dead_letter_copy(nameless, letter, 0, reason, self._service), tx)

    async def wake_overdue(self, *, limit: int = 500, first_wait_seconds: float = 30.0) -> int:
        """Wake heads again whose wake-up nobody obeyed, ever less often; how many."""
        async with self._database.transaction() as tx:
            found = await call(tx, _WAKE_OVERDUE, limit, first_wait_seconds)
            for consumer, source, key, event_id, attempts in found:
                self._wake(tx, (consumer, source, key), event_id, attempts)
        return len(found)

    def _wake(
        self,
        tx: Transaction,
        key: tuple[str, str, str],
        event_id: UUID | None,
        attempts: int,
        not_before: datetime | None = None,
    ) -> None:
        """Send the wake-up that a SQL function asked for, if it did."""
        if event_id is not None:
            append(WakeUp(*key, event_id, attempts, not_before).message(self._service), tx)


def _identity(event: IncomingEvent) -> tuple[str, str, str, UUID]:
    return (event.consumer, event.source, event.key, event.event_id)


def _content(event: IncomingEvent) -> tuple[str, str, bytes, str]:
    return (event.name, orjson.dumps(dict(event.headers)).decode(), event.payload, event.origin)
