"""The connections of one process to its database: kept, lent for a transaction each, thrown away when in doubt."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import asyncpg
from sqlalchemy.engine import RootTransaction
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession

# Ending a transaction on a server that does not answer is not worth more: without its connection it ends, too.
_ROLL_BACK_SECONDS = 5.0

DRIVER_FAILED = (asyncpg.InterfaceError, asyncpg.InternalClientError)
"""What asyncpg raises by itself. It calls it internal when a connection ends between two of its own steps ("cannot
switch to state 12"), which a server that ends connections brings about once in twenty times."""


class PoolExhausted(Exception):
    """No connection came free in time: more is going on in this process than its pool was made for."""


class TransactionLost(RuntimeError):
    """The block of a transaction ended as if all was well, and the server had given the transaction up before."""


class PooledConnection:
    """One connection to the server, as the driver (`driver`) and as SQLAlchemy know it.

    Transactions are begun and ended over the driver, since SQLAlchemy takes several times as long for that as the
    driver and the server do. Its side is in autocommit, in which it sends neither BEGIN nor COMMIT, so what a session
    sends belongs to the transaction that is open.
    """

    def __init__(self, connection: AsyncConnection, driver: asyncpg.Connection[asyncpg.Record]) -> None:
        self.driver = driver
        self._connection = connection
        self._session: AsyncSession | None = None
        self._joined: RootTransaction | None = None
        self._is_fit = True

    @classmethod
    async def open(cls, engine: AsyncEngine) -> PooledConnection:
        """Connect. `engine` keeps no pool of its own and is in autocommit."""
        connection = await engine.connect()
        driver = (await connection.get_raw_connection()).driver_connection
        assert isinstance(driver, asyncpg.Connection)
        return cls(connection, driver)

    @property
    def is_idle(self) -> bool:
        """Whether the next transaction can have it: all before it ended in order, and so did their sessions.

        The driver alone cannot tell: what met the end of its connection between two of the driver's steps may look
        open and at rest. SQLAlchemy closes the driver of a connection that it gives up.
        """
        return self._is_fit and not (
            self.driver.is_closed() or self.driver.is_in_transaction() or self._session is not None
        )

    def distrust(self) -> None:
        """Let nobody have it after this: something went wrong that the driver did not expect."""
        self._is_fit = False

    def session(self) -> AsyncSession:
        """The open transaction as a session, which takes part in it and can roll it back, but not commit it."""
        if self._session is None:
            # As SQLAlchemy sees it; nothing is sent. A session that rolls back ends it, which `commit` looks at.
            assert self._connection.sync_connection is not None
            self._joined = self._connection.sync_connection.begin()
            self._session = AsyncSession(
                self._connection,
                expire_on_commit=False,
                autoflush=False,
                join_transaction_mode="rollback_only",
                close_resets_only=False,  # used after its transaction, it raises instead of meddling with the next one
            )
        return self._session

    async def begin(self, mode: str = "") -> None:
        self._is_fit = False  # until the server has answered that it is over
        await self.driver.execute(f"BEGIN {mode}")

    async def commit(self) -> None:
        """Raises `TransactionLost` when there is nothing to commit any more."""
        if self._joined is not None and not self._joined.is_active:
            raise TransactionLost("a session rolled the transaction back, and its block went on: let the error out")
        # The server answers the COMMIT of a transaction in which a statement has failed with ROLLBACK, and no error.
        answer = await self.driver.execute("COMMIT")
        self._is_fit = True
        if answer != "COMMIT":
            raise TransactionLost(
                "a statement had failed, and the error did not leave the transaction's block: let it out, or run what "
                "may fail in a savepoint (`session.begin_nested()`)"
            )

    async def roll_back(self) -> None:
        """Leave nothing of the transaction, if the server still has one, and if it still answers."""
        if self.driver.is_in_transaction():
            with contextlib.suppress(OSError, TimeoutError, asyncpg.PostgresError, *DRIVER_FAILED):
                await self.driver.execute("ROLLBACK", timeout=_ROLL_BACK_SECONDS)
                self._is_fit = True

    async def detach(self) -> None:
        """Part from the session of a transaction that has ended: what it has loaded sends nothing any more."""
        if self._session is not None and self._joined is not None:
            await self._session.close()
            self._joined.close()
            self._session = self._joined = None

    async def close(self) -> None:
        await self._connection.close()

    async def discard(self) -> None:
        """Cut the connection, whatever state it is in. The server rolls back."""
        self.driver.terminate()
        with contextlib.suppress(Exception):  # what remains of it is in this process only
            await self._connection.invalidate()
            await self._connection.close()


class ConnectionPool:
    """Up to `size` connections, opened when needed and lent in turn.

    The one that came back last goes first, so those beyond what is needed stay unused. One that is not fit for
    another transaction, or that its server has closed, is replaced.
    """

    def __init__(self, engine: AsyncEngine, size: int, *, wait_seconds: float = 30.0) -> None:
        self._engine = engine
        self._wait_seconds = wait_seconds
        self._lendable = asyncio.Semaphore(size)
        self._idle: list[PooledConnection] = []
        self._is_closed = False

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[PooledConnection]:
        """Borrow one for a block. Raises `PoolExhausted` when none came free within `wait_seconds`."""
        connection = await self.borrow()
        try:
            yield connection
        finally:
            await self.give_back(connection)

    async def borrow(self) -> PooledConnection:
        """Borrow one, to be given back whatever happens. Raises as `connection` does."""
        await self._wait_for_turn()
        try:
            return await self._take_idle() or await PooledConnection.open(self._engine)
        except BaseException:
            self._lendable.release()
            raise

    async def give_back(self, connection: PooledConnection) -> None:
        """Keep it for the next one if it is fit for that."""
        try:
            if connection.is_idle and not self._is_closed:
                self._idle.append(connection)
            else:
                await connection.discard()
        finally:
            self._lendable.release()

    async def close(self) -> None:
        """Close those that are not lent now; the others follow when they come back."""
        self._is_closed = True
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.close()
        await self._engine.dispose()

    async def _wait_for_turn(self) -> None:
        if not self._lendable.locked():
            await self._lendable.acquire()  # at once
            return
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._lendable.acquire()
        except TimeoutError as error:
            raise PoolExhausted(f"no database connection came free within {self._wait_seconds:g} s") from error

    async def _take_idle(self) -> PooledConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_idle:
                return connection
            await connection.discard()
        return None
