"""What the tests of the retry ledger share: events without a broker, consumers that take effect or fail, wake-ups."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeAlias
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy import text

from service_platform.database import Database, Transaction
from service_platform.inbox import InboxClaim, IncomingEvent, RetryClaim, RetryLedger, RetryPolicy, WakeUp

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

SERVICE = "shop"


def incoming(key: str = "k", number: int = 0, consumer: str = "c", source: str = "order") -> IncomingEvent:
    event_id = uuid4()
    return IncomingEvent(
        consumer=consumer,
        source=source,
        key=key,
        event_id=event_id,
        name="thing.happened",
        headers={"event-id": str(event_id), "event-name": "thing.happened"},
        payload=json.dumps({"number": number}).encode(),
        origin=f"events.{source}/0@{number} 0",
    )


class Deliveries:
    """Delivers events to one service as its engine does, step by step."""

    def __init__(self, database: Database, owner: Owner, *, pause_seconds: float = 0.0) -> None:
        self.database = database
        self.owner = owner
        self.ledger = RetryLedger(database, SERVICE, RetryPolicy(pause_seconds, pause_seconds))

    async def make_effects(self) -> None:
        """Where runs leave their effects."""
        await self.owner.execute(
            "CREATE TABLE effect (at bigint GENERATED ALWAYS AS IDENTITY, consumer text, key text, event_id uuid);"
            "GRANT ALL ON effect TO platform_app"
        )

    async def run(self, event: IncomingEvent) -> None:
        """A delivery from the event's topic takes effect. Raises the refusal."""
        await self.effect(event, InboxClaim(event.consumer, event.source, event.key, event.event_id))

    async def wake(self, wake_up: WakeUp) -> None:
        """A wake-up is obeyed. Raises the refusal."""
        event = IncomingEvent(wake_up.consumer, wake_up.source, wake_up.key, wake_up.event_id, "", {}, b"", "")
        await self.effect(event, RetryClaim(wake_up, SERVICE))

    async def effect(self, event: IncomingEvent, claim: InboxClaim) -> None:
        async with self.database.transaction(claim=claim) as tx:
            await self.write_effect(event, tx)

    async def write_effect(self, event: IncomingEvent, tx: Transaction) -> None:
        await tx.session.execute(
            text("INSERT INTO effect (consumer, key, event_id) VALUES (:c, :k, :e)"),
            {"c": event.consumer, "k": event.key, "e": event.event_id},
        )

    async def fail(
        self, event: IncomingEvent, attempts: int | None = None, allowed: int = 3, hold: bool = False
    ) -> str:
        """A run of the event ends with an error; what was recorded."""
        return await self.ledger.record_failure(
            replace(event, attempts=attempts), RuntimeError("no"), attempts_allowed=allowed, hold=hold
        )

    async def wake_ups(self) -> list[WakeUp]:
        """Every wake-up that was ever written, in the order of the outbox."""
        rows = await self.owner.fetch(
            """
            SELECT o.key, o.headers, nullif(q.not_before, '-infinity')
            FROM outbox o LEFT JOIN outbox_queue q USING (position)
            WHERE o.destination = $1 ORDER BY o.position
            """,
            f"events.{SERVICE}.retry",
        )
        return [replace(WakeUp.read(key, json.loads(headers)), not_before=at) for key, headers, at in rows]

    async def last_wake_up(self) -> WakeUp:
        return (await self.wake_ups())[-1]

    async def effects(self, key: str = "k") -> list[UUID]:
        """The events that took effect, in the order of their commits (the lock of the key makes it that of `at`)."""
        rows = await self.owner.fetch("SELECT event_id FROM effect WHERE key = $1 ORDER BY at", key)
        return [row["event_id"] for row in rows]

    async def pending(self) -> list[tuple[UUID, int]]:
        """The ledger: event and attempts, in its order."""
        rows = await self.owner.fetch("SELECT event_id, attempts FROM retry_ledger ORDER BY position")
        return [(row["event_id"], row["attempts"]) for row in rows]
