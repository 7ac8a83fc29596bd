"""walbox: a reader of the write-ahead log, with a checkpoint a hundred transactions."""

from __future__ import annotations

from typing import ClassVar

from bench.lab import Connection

from .contestant import TableContestant
from .log_reader import LogReader
from .peer import Peer


class WalBox(LogReader, Peer):
    """See `programs/walbox_relay.py`."""

    name: ClassVar[str] = "walbox"
    relay: ClassVar[str] = "walbox_relay"
    rounds: ClassVar[int] = 2
    newer_python: ClassVar[bool] = True
    most_rows: ClassVar[int] = 8_000
    slot: ClassVar[str] = "bench_walbox"
    publication: ClassVar[str] = "bench_walbox"
    table: ClassVar[str] = "outbox"
    create: ClassVar[str] = """
        CREATE TABLE outbox (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            aggregate_id text NOT NULL,
            payload text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now()
        )
    """
    insert: ClassVar[str] = "INSERT INTO outbox (aggregate_id, payload) VALUES ($1, $2)"

    async def make_tables(self, connection: Connection) -> None:
        await TableContestant.make_tables(self, connection)

    async def prepare(self) -> None:
        await super().prepare()
        connection = await self.connection()
        await connection.execute("DROP TABLE IF EXISTS walbox_checkpoint")  # of a slot that is gone
