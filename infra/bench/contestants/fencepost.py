"""The suite's own relay: the order service's relay process, exactly as it is shipped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import ClassVar

from bench.lab import Connection, Lab, connect
from bench.processes import Program
from bench.workload import Row, measured_by
from native.probes import heartbeat
from service_platform.database import Database
from service_platform.event_bus import EventBus
from service_platform.outbox import WakeUp

from .contestant import ROWS_A_TRANSACTION, Contestant, Feed, batches


class Fencepost(Contestant):
    """Rows get into the outbox as a service's do: published to the event bus in a transaction."""

    name: ClassVar[str] = "fencepost"
    more_relays: ClassVar[tuple[int, ...]] = (2,)
    also_cold: ClassVar[bool] = True

    def __init__(self, lab: Lab) -> None:
        super().__init__(lab)
        self._database: Database | None = None
        self._waking: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._admin: Connection | None = None

    @property
    def database(self) -> str:
        return "order_db"

    async def prepare(self) -> None:
        await self._empty()

    async def finish(self) -> None:
        await self._empty()

    async def commit(self, source: str, rows: Sequence[Row]) -> None:
        database = self._publishing()
        bus, event = EventBus(source), measured_by(source)
        for some in batches(rows, ROWS_A_TRANSACTION):
            async with database.transaction() as tx:
                for row in some:
                    await bus.publish(event.create(**row.fields()), tx)

    @asynccontextmanager
    async def open_feed(self, source: str) -> AsyncIterator[Feed]:
        """As an API process does it: a transaction a row, and the wake-up of the relays beside it."""
        database = Database(self.lab.order_app(), application_name="bench publisher", pool_size=1)
        stop = asyncio.Event()
        waking = asyncio.create_task(WakeUp(database).run(stop))
        try:
            yield _Publisher(database, source)
        finally:
            stop.set()
            await waking
            await database.close()

    async def settle(self) -> None:
        admin = await self._connection()
        await admin.execute("VACUUM (ANALYZE) outbox, outbox_queue")
        await self.lab.checkpoint()

    async def multiply_sent(self, at_least: int) -> None:
        """Copy the rows that were sent until there are `at_least`: a table that has seen much traffic."""
        admin = await self._connection()
        columns = await admin.fetchval(
            """
            SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
            WHERE attrelid = 'outbox'::regclass AND attnum > 0 AND NOT attisdropped
              AND attidentity = '' AND attgenerated = ''
            """
        )
        there = await admin.fetchval("SELECT count(*) FROM outbox")
        if not there:
            raise ValueError("no row was sent yet, so there is none to copy")
        copies = -(-at_least // there) - 1
        await admin.execute(
            f"INSERT INTO outbox ({columns}) SELECT {columns} FROM outbox CROSS JOIN generate_series(1, {copies})"
        )

    def program(self, source: str, replica: int) -> Program:
        process = next(p for p in self.lab.stack.topology.processes() if p.name == "order-relay")
        beat = self.lab.settings.logs / f"{source}-{replica}.health"
        return Program(
            argv=process.argv,
            env={**process.env, "HEALTH_FILE": str(beat)},
            cwd=process.cwd,
            ready=heartbeat(beat),
        )

    async def has_pending(self) -> bool:
        admin = await self._connection()
        return bool(
            await admin.fetchval("SELECT EXISTS (SELECT FROM outbox_queue WHERE channel = 'kafka' AND error IS NULL)")
        )

    async def close(self) -> None:
        self._stop.set()
        if self._waking is not None:
            await self._waking
        if self._database is not None:
            await self._database.close()
        if self._admin is not None:
            await self._admin.close()

    def _publishing(self) -> Database:
        """The publisher's database, with the wake-up that runs beside it in every process that publishes."""
        if self._database is None:
            self._database = Database(self.lab.order_app(), application_name="bench publisher", pool_size=1)
            self._waking = asyncio.create_task(WakeUp(self._database).run(self._stop))
        return self._database

    async def _empty(self) -> None:
        admin = await self._connection()
        await admin.execute("TRUNCATE outbox, outbox_queue RESTART IDENTITY")

    async def _connection(self) -> Connection:
        if self._admin is None:
            self._admin = await connect(self.lab.superuser(self.database))
        return self._admin


class _Publisher:
    """Publishes one event a transaction."""

    def __init__(self, database: Database, source: str) -> None:
        self._database = database
        self._bus = EventBus(source)
        self._event = measured_by(source)

    async def commit(self, row: Row) -> None:
        async with self._database.transaction() as tx:
            await self._bus.publish(self._event.create(**row.fields()), tx)
