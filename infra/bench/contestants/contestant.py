"""What the measurements need of whoever takes part in them."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import ClassVar, Protocol

from bench.lab import Connection, Lab, Statement, connect
from bench.processes import Program
from bench.workload import Row
from service_platform.event_bus import topic_of

PROGRAMS = Path(__file__).parents[1] / "programs"
ROWS_A_TRANSACTION = 500
ALL_ROUNDS = 1_000


class Feed(Protocol):
    """Where rows are committed one by one, as the service commits that the outbox belongs to."""

    async def commit(self, row: Row) -> None:
        """Commit `row` in a transaction of its own."""
        ...


class Contestant(ABC):
    """A relay with its outbox: rows are committed to the outbox, the relay's processes bring them to a topic.

    One instance a run of the bench. The calls of one measurement: `prepare`; then `commit` and `program` in either
    order, and `has_pending` until it says no; then `finish`.
    """

    name: ClassVar[str]
    most_rows: ClassVar[int] = 10_000_000
    """What a drain gives it at most: a slow relay shows its rate with fewer rows than a fast one."""
    more_relays: ClassVar[tuple[int, ...]] = ()
    """The numbers of relays side by side that are measured beside one."""
    warm_up_rows: ClassVar[int] = 200
    """What it sends before it is measured; one that is compiled while it runs needs many."""
    rounds: ClassVar[int] = ALL_ROUNDS
    """In how many rounds it is measured at most: what is slow and no target's measure costs the run its time."""
    also_cold: ClassVar[bool] = False
    """Whether draining is measured from the start of the process, too."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    @property
    @abstractmethod
    def database(self) -> str:
        """The name of the database that its outbox is in; no other contestant's is."""

    def missing(self) -> str | None:
        """Why it cannot take part on this machine; None when it can."""
        return None

    @abstractmethod
    async def prepare(self) -> None:
        """Have an empty outbox, whatever was in it. No relay runs at that time."""

    @abstractmethod
    async def commit(self, source: str, rows: Sequence[Row]) -> None:
        """Commit `rows` to the outbox, in their order, for the topic of `source`."""

    @abstractmethod
    def open_feed(self, source: str) -> AbstractAsyncContextManager[Feed]:
        """Rows one by one for the topic of `source`; used in a process of its own."""

    @abstractmethod
    async def settle(self) -> None:
        """Have what was committed vacuumed and analysed, as it would be after a while."""

    @abstractmethod
    def program(self, source: str, replica: int) -> Program:
        """How a process of the relay is started, for the topic of `source`."""

    async def is_ready(self) -> bool:
        """Whether what is committed from now on will be relayed; asked while its processes start."""
        return True

    @abstractmethod
    async def has_pending(self) -> bool:
        """Whether the outbox holds a row that is not known there to be in Kafka."""

    @abstractmethod
    async def finish(self) -> None:
        """Leave nothing behind that would cost the next one: no rows to vacuum, no log to keep."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of connections."""


class TableContestant(Contestant):
    """A relay whose outbox is a table in a database of its own, filled by one INSERT a row."""

    relay: ClassVar[str]  # the relay's program in `programs/`
    table: ClassVar[str]
    create: ClassVar[str]
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
            connection = await connect(address)
            try:
                await self.make_tables(connection)
            except BaseException:
                await connection.close()
                raise
            self._connection = connection
        return self._connection

    async def make_tables(self, connection: Connection) -> None:
        """Make the outbox table."""
        await connection.execute(self.create)

    async def prepare(self) -> None:
        await self._empty()

    async def finish(self) -> None:
        if self._connection is not None:
            await self._empty()

    async def _empty(self) -> None:
        connection = await self.connection()
        await connection.execute(f"TRUNCATE {self.table} RESTART IDENTITY")

    async def commit(self, source: str, rows: Sequence[Row]) -> None:
        connection = await self.connection()
        statement = self.insert.format(topic=topic_of(source))
        for some in batches(rows, ROWS_A_TRANSACTION):
            await connection.executemany(statement, [(row.aggregate, row.payload()) for row in some])

    @asynccontextmanager
    async def open_feed(self, source: str) -> AsyncIterator[Feed]:
        connection = await connect(self.lab.superuser(self.database))
        try:
            yield _Inserts(await connection.prepare(self.insert.format(topic=topic_of(source))))
        finally:
            await connection.close()

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
        return self.lab.environment() | {
            "DSN": f"postgresql://{address.user}:{address.password}@{address.host}:{address.port}/{address.name}",
            "KAFKA": self.lab.kafka,
            "TOPIC": topic_of(source),
        }

    def program(self, source: str, replica: int) -> Program:
        del replica
        return self.script(self.relay, source)

    @property
    def python(self) -> str:
        """The interpreter of its programs."""
        return sys.executable

    def script(self, name: str, source: str, **more: str) -> Program:
        """The program `programs/<name>.py`."""
        environment: Mapping[str, str] = self.environment(source) | more
        return Program(argv=(self.python, str(PROGRAMS / f"{name}.py")), env=environment)


class _Inserts:
    """One INSERT a row, each a transaction."""

    def __init__(self, insert: Statement) -> None:
        self._insert = insert

    async def commit(self, row: Row) -> None:
        await self._insert.fetch(row.aggregate, row.payload())


def batches(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    """`rows` in pieces of at most `size`."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
