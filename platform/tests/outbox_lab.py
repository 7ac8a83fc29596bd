"""What the tests of the outbox share: messages to append, and a sink that fails as it is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import TypeAlias
from uuid import uuid4

import asyncpg

from service_platform.database import Database
from service_platform.outbox import Channel, Delivered, OutboxMessage, OutboxRow, Relay, Sink, SinkUnavailable, append
from world.waiting import eventually

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Answer = Callable[[Sequence[OutboxRow]], Delivered]


def acknowledge(rows: Sequence[OutboxRow]) -> Delivered:
    """Everything went through."""
    return Delivered(frozenset(row.position for row in rows))


def refuse(*names: str) -> Answer:
    """As a broker does: one bad record fails the batch that it travels in, and is refused alone as well."""

    def answer(rows: Sequence[OutboxRow]) -> Delivered:
        if any(name_of(row) in names for row in rows):
            return Delivered(frozenset(), {row.position: "MSG_SIZE_TOO_LARGE" for row in rows})
        return acknowledge(rows)

    return answer


class ScriptedSink:
    """Takes everything, unless told otherwise. Remembers what it was given and what it took, in order."""

    def __init__(self) -> None:
        self.answer: Answer = acknowledge
        self.batches: list[list[str]] = []
        self.taken: list[str] = []
        self.probes = 0
        self.is_away = False

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        self.batches.append([name_of(row) for row in rows])
        try:
            delivered = self.answer(rows)
        except SinkUnavailable as outage:
            self._take(rows, outage.acknowledged)
            raise
        self._take(rows, delivered.acknowledged)
        return delivered

    async def probe(self) -> None:
        self.probes += 1
        if self.is_away:
            raise SinkUnavailable("still away")

    def _take(self, rows: Sequence[OutboxRow], acknowledged: frozenset[int]) -> None:
        self.taken += [name_of(row) for row in rows if row.position in acknowledged]


def name_of(row: OutboxRow) -> str:
    return row.payload.decode()


async def publish(
    database: Database,
    *names: str,
    destination: str = "events.order",
    consumer: str = "",
    channel: Channel = "kafka",
    not_before: datetime | None = None,
) -> None:
    """One transaction; `k1/e1` has the key k1."""
    async with database.transaction() as tx:
        for name in names:
            key = name.split("/")[0]
            append(
                OutboxMessage(
                    channel, destination, key, uuid4(), name.encode(), {}, consumer=consumer, not_before=not_before
                ),
                tx,
            )


@contextlib.asynccontextmanager
async def relaying(
    database: Database, sink: Sink, channel: Channel = "kafka", **settings: float
) -> AsyncIterator[Relay]:
    relay = Relay(database, channel=channel, sink=sink, **settings)  # type: ignore[arg-type]
    stop = asyncio.Event()
    task = asyncio.create_task(relay.run(stop))
    try:
        yield relay
    finally:
        stop.set()
        async with asyncio.timeout(15):
            await task


async def pending(owner: Owner) -> int:
    """How many rows wait for anything but a person."""
    count: int = await owner.fetchval("SELECT count(*) FROM outbox_queue WHERE parked_at IS NULL")
    return count


async def parked(owner: Owner) -> list[str]:
    rows = await owner.fetch(
        "SELECT convert_from(payload, 'UTF8') AS name FROM outbox JOIN outbox_queue USING (position) "
        "WHERE parked_at IS NOT NULL ORDER BY position"
    )
    return [row["name"] for row in rows]


async def tries(owner: Owner) -> dict[str, int]:
    """Of each row that is still in the queue."""
    rows = await owner.fetch(
        "SELECT convert_from(payload, 'UTF8') AS name, tries FROM outbox JOIN outbox_queue USING (position)"
    )
    return {row["name"]: row["tries"] for row in rows}


async def shards_held(owner: Owner) -> int:
    """How many of the database's shards a relay holds."""
    held: int = await owner.fetchval(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return held


async def all_sent(owner: Owner, within: float = 15.0) -> None:
    await eventually(lambda: pending(owner), until=lambda n: n == 0, within=within, what="all rows are sent")
