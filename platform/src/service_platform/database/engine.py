"""One service's connection to its own database."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import asyncpg
import orjson
from sqlalchemy import URL
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.pool import NullPool

from .pool import ConnectionPool
from .transaction import Claim, Transaction, transaction_is_open

# A process that is stopped or cut off in mid-transaction holds its locks until the server ends the transaction. Who
# waits for a lock waits longer than that, so that one stalled process costs the others time and no error. One that is
# gone is found out sooner, also in the middle of a statement, which the server would otherwise finish for nobody.
#
# Whoever decides under a lock reads by a statement after it, and must see what the lock's last holder committed.
_LIMITS = {
    "default_transaction_isolation": "read committed",
    "idle_in_transaction_session_timeout": "10s",
    "lock_timeout": "15s",
    "client_connection_check_interval": "2s",
}

CommitObserver = Callable[[Transaction], None]


@dataclass(frozen=True)
class DatabaseAddress:
    """Where a database is and who asks.

    `sslmode` is libpq's: `disable`, `require` (encrypted, whoever answers) or `verify-full` (only to the host of that
    name, by a CA of the file `sslrootcert`, or of the system).
    """

    host: str
    port: int
    name: str
    user: str
    password: str
    sslmode: str = "disable"
    sslrootcert: str | None = None

    def url(self) -> URL:
        return URL.create(
            "postgresql+asyncpg",
            username=self.user,
            password=self.password,
            host=self.host,
            port=self.port,
            database=self.name,
        )

    def driver_arguments(self) -> dict[str, Any]:
        """What `asyncpg.connect` is told, for a connection beside a pool."""
        return {
            "host": self.host,
            "port": self.port,
            "database": self.name,
            "user": self.user,
            "password": self.password,
            "ssl": self.tls(),
        }

    def tls(self) -> ssl.SSLContext | bool:
        """The driver's `ssl` argument, which goes with `url()`."""
        if self.sslmode == "disable":
            return False
        context = ssl.create_default_context(cafile=self.sslrootcert)
        if self.sslmode == "require":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


class Database:
    """Opens transactions on one database. One instance a process, made after any fork, closed at its end.

    `pool_size` connections are kept; none is opened beyond them, so that the sum over all processes can be checked
    against the server's limit. `application_name` shows in pg_stat_activity.
    """

    def __init__(self, address: DatabaseAddress, *, application_name: str, pool_size: int = 10) -> None:
        self.address = address
        self.application_name = application_name
        self._observers: list[CommitObserver] = []
        engine = create_async_engine(
            address.url(),
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            json_serializer=lambda value: orjson.dumps(value).decode(),
            json_deserializer=orjson.loads,
            connect_args={
                "ssl": address.tls(),
                "timeout": 10,
                "command_timeout": 30,
                "server_settings": {"application_name": application_name, "jit": "off", **_LIMITS},
            },
        )
        self._pool = ConnectionPool(engine, pool_size)

    @contextlib.asynccontextmanager
    async def transaction(self, *, claim: Claim | None = None) -> AsyncIterator[Transaction]:
        """Open the one transaction of a use case; commit at the end of the block, roll back on any error.

        `claim` is acquired as the first statement, so nothing of the block happens unless it is won: its
        `ClaimRefused` leaves through here. What was published and enqueued is written last, right before COMMIT.
        """
        with transaction_is_open():
            connection = await self._pool.borrow()
            tx = Transaction(connection)
            try:
                await connection.begin()
                if claim is not None:
                    await claim.acquire(tx)
                yield tx
                await tx.flush_parts()
                await connection.commit()
            except BaseException:
                await connection.roll_back()
                raise
            finally:
                try:
                    await connection.detach()
                finally:
                    await self._pool.give_back(connection)
        tx.committed = True
        for observer in self._observers:
            observer(tx)

    @contextlib.asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncSession]:
        """A session for queries, which all see one snapshot. The server refuses every write in it."""
        async with self._pool.connection() as connection:
            try:
                await connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield connection.session()
            finally:
                await connection.roll_back()
                await connection.detach()

    @contextlib.asynccontextmanager
    async def autocommit(self) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
        """The driver outside of any transaction: each statement is one of its own, in one round trip."""
        async with self._pool.connection() as connection:
            try:
                yield connection.driver
            except asyncpg.InternalClientError:
                connection.distrust()
                raise

    def after_commit(self, observer: CommitObserver) -> None:
        """Call `observer` with each committed transaction. For hints only: a crash before the call loses it."""
        self._observers.append(observer)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()
