"""What the readers of the write-ahead log have in common: a slot, and no mark on any row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from bench.lab import Connection
from bench.waiting import until
from bench.workload import Row
from service_platform.event_bus import topic_of

from .contestant import TableContestant

_SLOT_SECONDS = 20.0


class LogReader(TableContestant):
    """Rows are committed one a transaction, as they would be: a transaction is what a log reader works by.

    What it has confirmed to the server is how far it is: behind the start of the last row's transaction means done.
    """

    slot: ClassVar[str]
    publication: ClassVar[str]

    _before_last: str | None = None

    async def prepare(self) -> None:
        await super().prepare()
        connection = await self.connection()
        await self._drop_slot()
        await connection.execute(f"DROP PUBLICATION IF EXISTS {self.publication}")
        await connection.execute(
            f"CREATE PUBLICATION {self.publication} FOR TABLE {self.table} WITH (publish = 'insert')"
        )

    async def commit(self, source: str, rows: Sequence[Row]) -> None:
        connection = await self.connection()
        insert = await connection.prepare(self.insert.format(topic=topic_of(source)))
        await connection.execute("SET synchronous_commit = off")
        for row in rows[:-1]:
            await insert.fetch(row.aggregate, row.payload())
        await connection.execute("SET synchronous_commit = on")
        self._before_last = await connection.fetchval("SELECT pg_current_wal_insert_lsn()::text")
        await insert.fetch(rows[-1].aggregate, rows[-1].payload())

    async def is_ready(self) -> bool:
        return await self._slot_is_active(await self.connection())

    async def has_pending(self) -> bool:
        connection = await self.connection()
        return not await connection.fetchval(
            "SELECT confirmed_flush_lsn >= $2::text::pg_lsn FROM pg_replication_slots WHERE slot_name = $1",
            self.slot,
            self._before_last,
        )

    async def finish(self) -> None:
        """A slot that nobody reads keeps the server's whole log."""
        await super().finish()
        if self._connection is not None:
            await self._drop_slot()

    async def _drop_slot(self) -> None:
        connection = await self.connection()

        async def is_free() -> bool:
            return not await self._slot_is_active(connection)

        await until(is_free, f"slot {self.slot} is free", within=_SLOT_SECONDS)
        await connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1", self.slot
        )

    async def _slot_is_active(self, connection: Connection) -> bool:
        found = await connection.fetchval("SELECT active FROM pg_replication_slots WHERE slot_name = $1", self.slot)
        return bool(found)
