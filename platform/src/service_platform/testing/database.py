"""A database without a server, for unit tests of domain services."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import NoReturn, cast

from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Claim, ClaimRefused, CommitObserver, Database, Transaction
from service_platform.database.pool import PooledConnection
from service_platform.database.transaction import transaction_is_open


class FakeTransaction(Transaction):
    """Gathers parts as the real one does and writes none of them."""

    def __init__(self) -> None:
        super().__init__(cast("PooledConnection", _NoServer()))
        self._session = cast("AsyncSession", _NoServer())
        self.committed = False


class FakeDatabase(Database):
    """Opens transactions that reach no server and keeps what became of them.

    As in the real one: a transaction inside another is refused, external calls inside one are refused, and after an
    error in the block nothing counts as committed. `claims` are the claims that were asked for, in order; with
    `refusal` set, the next claim is refused by it.
    """

    def __init__(self) -> None:
        self.committed: list[FakeTransaction] = []
        self.rolled_back: list[FakeTransaction] = []
        self.claims: list[Claim | None] = []
        self.refusal: ClaimRefused | None = None
        self._observers: list[CommitObserver] = []

    @contextlib.asynccontextmanager
    async def transaction(self, *, claim: Claim | None = None) -> AsyncIterator[Transaction]:
        self.claims.append(claim)
        tx = FakeTransaction()
        with transaction_is_open():
            if claim is not None and self.refusal is not None:
                refusal, self.refusal = self.refusal, None
                self.rolled_back.append(tx)
                raise refusal
            try:
                yield tx
            except BaseException:
                self.rolled_back.append(tx)
                raise
            tx.committed = True
            self.committed.append(tx)
        for observer in self._observers:
            observer(tx)

    @contextlib.asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncSession]:
        yield FakeTransaction().session

    async def close(self) -> None:
        return None


class _NoServer:
    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(
            f"session.{name} was used in a unit test, which has no database: give the service a stand-in for its table "
            "class, or test it against a real one"
        )
