"""The one transaction of a use case: claim first, work, parts flush, COMMIT."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Protocol, TypeVar

import asyncpg
from sqlalchemy.ext.asyncio import AsyncSession

from .pool import PooledConnection

_open_transaction: ContextVar[bool] = ContextVar("fencepost_open_transaction", default=False)

PartT = TypeVar("PartT", bound="TransactionPart")


class ClaimRefused(Exception):
    """The claim is not ours: the work was done, answered or taken over by someone else.

    ClaimRefused
    ├── inbox.DeliveryRefused           the delivery took effect before, or its turn has not come
    ├── idempotency.AlreadyAnswered     the Idempotency-Key was used; replay the stored answer
    └── jobs.JobFencedOut               a newer run of the job owns it; stop quietly
    """


class Claim(Protocol):
    """What a transaction must win before it may do anything: inbox row, idempotency key or job fence."""

    async def acquire(self, tx: Transaction) -> None:
        """Run as the transaction's first statement.

        Raises a subclass of `ClaimRefused` when the claim is not ours; the transaction then rolls back.
        """
        ...


class TransactionPart(ABC):
    """Something that gathers work during a transaction and writes it as its last act before COMMIT."""

    @abstractmethod
    async def before_commit(self, tx: Transaction) -> None:
        """Write what was gathered. An error rolls the whole transaction back."""


class ExternalCallInTransaction(RuntimeError):
    """A call to the outside was made while a transaction was open: it would be neither undone nor fenced."""


def forbid_in_transaction(call: str) -> None:
    """Refuse `call` (its name, for the message) while this task has a transaction open.

    Adapters of the outside world call it first: a remote call under an open transaction holds locks for as long as
    the other side likes, and survives a rollback.
    """
    if _open_transaction.get():
        raise ExternalCallInTransaction(
            f"{call} was called inside a database transaction. Commit first, call, then record the answer in a "
            "second fenced transaction."
        )


@contextlib.contextmanager
def transaction_is_open() -> Iterator[None]:
    """Mark the current task as inside a transaction; a second one inside the first is refused."""
    if _open_transaction.get():
        raise RuntimeError(
            "A transaction is already open in this task. One use case has one transaction: pass `tx` on instead of "
            "opening another."
        )
    token = _open_transaction.set(True)
    try:
        yield
    finally:
        _open_transaction.reset(token)


class Transaction:
    """An open transaction. Made by `Database.transaction` only."""

    committed = False
    """Whether its COMMIT has come back."""

    def __init__(self, connection: PooledConnection) -> None:
        self._connection = connection
        self._session: AsyncSession | None = None
        self._parts: dict[type[TransactionPart], TransactionPart] = {}

    @property
    def session(self) -> AsyncSession:
        """This transaction as a session. Whoever opened the transaction commits it; the session only takes part."""
        if self._session is None:
            self._session = self._connection.session()
        return self._session

    def part(self, kind: type[PartT]) -> PartT:
        """This transaction's one instance of `kind`, made at the first call."""
        part = self._parts.get(kind)
        if part is None:
            part = self._parts[kind] = kind()
        assert isinstance(part, kind)
        return part

    def has_part(self, kind: type[TransactionPart]) -> bool:
        """Whether anything asked for `kind` in this transaction."""
        return kind in self._parts

    async def driver(self) -> asyncpg.Connection[asyncpg.Record]:
        """The asyncpg connection under the session, inside this same transaction, for hot paths."""
        return self._connection.driver

    async def flush_parts(self) -> None:
        """Write the session, then every part, in the order in which they were first asked for."""
        if (session := self._session) is not None and (session.new or session.dirty or session.deleted):
            await session.flush()
        for part in self._parts.values():
            await part.before_commit(self)
