"""What the measurements need of whoever takes part in them."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from bench.lab import Connection, Lab, connect
from bench.processes import Program
from bench.workload import Row
from service_platform.event_bus import topic_of

PROGRAMS = Path(__file__).parents[1] / "programs"
ROWS_A_TRANSACTION = 500


class Contestant(ABC):
    """A relay with its outbox: rows are committed to the outbox, the relay's processes bring them to a topic.

    One instance a run of the bench. The calls of one measurement: `prepare`, `commit` and `program` in either order,
    and `has_pending` until it says no.
    """

    name: ClassVar[str]
    most_rows: ClassVar[int] = 10_000_000
    """What a drain gives it at most: a slow relay shows its rate with fewer rows than a fast one."""
    more_relays: ClassVar[tuple[int, ...]] = ()
    """The numbers of relays side by side that are measured beside one."""
    also_cold: ClassVar[bool] = False
    """Whether draining is measured from the start of the process, too."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    @abstractmethod
    async def prepare(self) -> None:
        """Have an empty outbox, whatever was in it."""

    @abstractmethod
    async def commit(self, source: str, rows: Sequence[Row]) -> None:
        """Commit `rows` to the outbox, in their order, for the topic of `source`."""

    @abstractmethod
    async def settle(self) -> None:
        """Have what was committed vacuumed and analysed, as it would be after a while."""

    @abstractmethod
    def program(self, source: str, replica: int) -> Program:
        """How a process of the relay is started, for the topic of `source`."""

    @abstractmethod
    async def has_pending(self) -> bool:
        """Whether the outbox holds a row that is not known there to be in Kafka."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of connections."""


class TableContestant(Contestant):
    """A relay whose outbox is a table in a database of its own, filled by one INSERT a row."""

    table: ClassVar[str]
    create: ClassVar[str]  # makes the table, for those whose relay does not bring its own DDL
    insert: ClassVar[str]  # $1 aggregate, $2 payload as text; {topic} is filled in
    pending: ClassVar[str]  # one boolean

    def __init__(self, lab: Lab) -> None:
        super().__init__(lab)
        self._connection: Connection | None = None

    @property
    def database(self) -> str:
        return f"bench_{self.name.replace('-', '_')}"

    async def connection(self) -> Connection:
        """The bench's own connection to the contestant's database, which is made when first asked for."""
        if self._connection is None:
            address = await self.lab.make_database(self.database)
            self._connection = await connect(address)
            await self.make_tables(self._connection)
        return self._connection

    async def make_tables(self, connection: Connection) -> None:
        """Make the outbox table."""
        await connection.execute(self.create)

    async def prepare(self) -> None:
        connection = await self.connection()
        await connection.execute(f"TRUNCATE {self.table} RESTART IDENTITY")

    async def commit(self, source: str, rows: Sequence[Row]) -> None:
        connection = await self.connection()
        statement = self.insert.format(topic=topic_of(source))
        for some in batches(rows, ROWS_A_TRANSACTION):
            await connection.executemany(statement, [(row.aggregate, row.payload()) for row in some])

    async def settle(self) -> None:
        connection = await self.connection()
        await connection.execute(f"VACUUM (ANALYZE) {self.table}")
        await self.lab.checkpoint()

    async def has_pending(self) -> bool:
        connection = await self.connection()
        return bool(await connection.fetchval(self.pending))

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    def environment(self, source: str) -> dict[str, str]:
        """What a relay's program reads: where the database, the broker and the topic are."""
        address = self.lab.superuser(self.database)
        return {
            "PATH": os.defpath,
            "HOME": str(self.lab.settings.state_dir),
            "PYTHONUNBUFFERED": "1",
            "DSN": f"postgresql://{address.user}:{address.password}@{address.host}:{address.port}/{address.name}",
            "KAFKA": self.lab.kafka,
            "TOPIC": topic_of(source),
        }

    def script(self, name: str, source: str, *, python: str = sys.executable, **more: str) -> Program:
        """The program `programs/<name>.py`, run by `python`."""
        environment: Mapping[str, str] = self.environment(source) | more
        return Program(argv=(python, str(PROGRAMS / f"{name}.py")), env=environment)


def batches(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    """`rows` in pieces of at most `size`."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
