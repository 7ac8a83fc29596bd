"""Each service's outbox: written to as the service's processes do it, and looked at."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from native.stack import Stack
from service_platform.database import Database, DatabaseAddress, Transaction
from service_platform.outbox import OutboxMessage, append

from .databases import Databases
from .waiting import eventually

# A relay that was killed is a process to be started first, on a machine that may be busy with other things.
_PATIENCE_SECONDS = 180.0


@dataclass(frozen=True)
class Queued:
    """What waits for one destination: rows, how many the broker refused, how many of these wait for a person."""

    rows: int
    refused: int
    parked: int


def message(topic: str, name: str) -> OutboxMessage:
    """A message whose payload is its name; what stands before the slash is its key, as in `k1/e2`."""
    return OutboxMessage("kafka", topic, name.split("/", 1)[0], uuid4(), name.encode())


class Outboxes:
    """Transactions of the services' own role, and the owner's look at the queue."""

    def __init__(self, stack: Stack, databases: Databases) -> None:
        self._stack = stack
        self._databases = databases
        self._open: dict[str, Database] = {}

    @contextlib.asynccontextmanager
    async def transaction(self, service: str) -> AsyncIterator[Transaction]:
        """One as the processes of `service` open it. Nothing wakes the relay: it finds the rows when it polls."""
        if service not in self._open:
            self._open[service] = Database(self._address(service), application_name="scenario", pool_size=5)
        async with self._open[service].transaction() as tx:
            yield tx

    async def commit(self, service: str, topic: str, names: Sequence[str]) -> None:
        """Messages in one transaction."""
        async with self.transaction(service) as tx:
            for name in names:
                append(message(topic, name), tx)

    async def queued(self, service: str, topic: str) -> Queued:
        """What waits for `topic`."""
        (row,) = await self._databases.rows(
            service,
            "SELECT count(*), count(*) FILTER (WHERE error IS NOT NULL OR tries > 0), count(parked_at) "
            "FROM outbox_queue WHERE destination = $1",
            topic,
        )
        return Queued(*row)

    async def until_left(self, service: str, topic: str, at_most: int) -> None:
        """Wait until no more than `at_most` rows wait for `topic`. What is still there stands in the failure."""
        left: Queued | None = None

        async def sent() -> bool:
            nonlocal left
            left = await self.queued(service, topic)
            return left.rows <= at_most

        try:
            await eventually(sent, what=f"at most {at_most} rows wait for {topic}", within=_PATIENCE_SECONDS)
        except AssertionError as error:
            relays = [state for state in self._stack.processes() if state.name.startswith(f"{service}-relay")]
            error.add_note(f"{left}, {relays}, shards in hand at ports {await self.ports_in_hand(service)}")
            raise

    async def until_sent(self, service: str, topic: str) -> None:
        """Wait until nothing waits for `topic` any more."""
        await self.until_left(service, topic, 0)

    async def ports_in_hand(self, service: str) -> set[int]:
        """The local ports of those who hold shards of the events' channel at the moment: relays in mid-batch."""
        superuser = await self._databases.as_superuser(service)
        rows = await superuser.fetch(
            """
            SELECT DISTINCT a.client_port FROM pg_locks l JOIN pg_stat_activity a USING (pid)
            WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND a.datname = current_database()
              AND l.classid::bigint = hashtext('outbox kafka')::bigint & 4294967295
            """
        )
        return {row["client_port"] for row in rows}

    @contextlib.asynccontextmanager
    async def held(self, service: str) -> AsyncIterator[None]:
        """No relay of `service` gets a shard of the events' channel within the block."""
        holder = await self._databases.another(service)
        try:
            await holder.execute(
                "SELECT pg_advisory_lock(hashtext('outbox kafka'), s) FROM generate_series(0, 31) AS s"
            )
            yield
        finally:
            await holder.close()

    @contextlib.asynccontextmanager
    async def unmarkable(self, service: str) -> AsyncIterator[None]:
        """Within the block every relay of `service` waits when it wants to mark what it has delivered."""
        holder = await self._databases.another(service)
        try:
            async with holder.transaction():
                await holder.execute("LOCK TABLE outbox_queue IN SHARE MODE")
                yield
        finally:
            await holder.close()

    async def marking(self, service: str) -> set[int]:
        """The backends of relays that have delivered rows and now wait to mark them."""
        rows = await self._databases.rows(
            service,
            """
            SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
            WHERE l.relation = 'outbox_queue'::regclass AND NOT l.granted AND a.application_name LIKE '%relay kafka'
            """,
        )
        return {row["pid"] for row in rows}

    async def end(self, service: str, backends: Collection[int]) -> None:
        """Have the server end these sessions, and roll back what they were doing."""
        superuser = await self._databases.as_superuser(service)
        await superuser.execute("SELECT pg_terminate_backend(pid, 5000) FROM unnest($1::int[]) AS pid", backends)

    async def close(self) -> None:
        for database in self._open.values():
            await database.close()

    def _address(self, service: str) -> DatabaseAddress:
        env = self._stack.env(f"{service}-relay")
        return DatabaseAddress(
            host=env["DATABASE_HOST"],
            port=int(env["DATABASE_PORT"]),
            name=env["DATABASE_NAME"],
            user=env["DATABASE_USER"],
            password=Path(env["DATABASE_PASSWORD_FILE"]).read_text(encoding="utf-8").strip(),
        )
