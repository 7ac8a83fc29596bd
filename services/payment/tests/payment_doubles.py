"""A capture's surroundings in memory, for tests that need no stack: rows, the job, what befalls a run.

Every place where a process can die or be stopped calls `reach()`: around each transaction, each statement and each
call of the provider. A `Run` counts the boundaries that it reaches, and can end, lose an answer or be held at any one.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from payment_service.domain.payments import (
    PaymentNotFound,
    PaymentStatus,
    ProviderUnavailable,
)
from payment_service.domain.payments.models import Declined, Outcome, Payment, Settled
from service_platform.database.transaction import transaction_is_open
from service_platform.jobs import JobFencedOut
from world import crashing
from world.crashing import current_run, reach

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class ConnectionLost(Exception):
    """The server ended the transaction of a run that was stopped inside it."""


class Run(crashing.Run):
    """A run that learns of no answer what it learns of a lost one."""

    lost = ProviderUnavailable


@dataclass
class Job:
    """The job row as far as the fence sees it."""

    token: int = 0
    step: str | None = None
    done: bool = False


@dataclass
class State:
    payments: dict[UUID, Payment] = field(default_factory=dict)
    published: list[Any] = field(default_factory=list)
    job: Job = field(default_factory=Job)


@dataclass(eq=False)
class InMemoryTransaction:
    """Changes a copy that a commit puts in place. `session` is itself: the in-memory table reads from it."""

    state: State
    ended_by_server: bool = False

    @property
    def session(self) -> InMemoryTransaction:
        return self


class InMemoryDatabase:
    """One job's world: transactions one at a time, since each holds the job's row from its first statement on."""

    def __init__(self) -> None:
        self.state = State()
        self._row_lock = asyncio.Lock()
        self._open: InMemoryTransaction | None = None

    @contextlib.asynccontextmanager
    async def transaction(self, *, claim: Any = None) -> AsyncIterator[InMemoryTransaction]:
        await reach("before BEGIN")
        lock = self._row_lock
        async with lock:
            with transaction_is_open(), _inside():
                tx = self._open = InMemoryTransaction(copy.deepcopy(self.state))
                if claim is not None:
                    await claim.acquire(tx)
                yield tx
                await reach("before COMMIT")
                if tx.ended_by_server:
                    raise ConnectionLost
                self.state = tx.state
        await reach("after COMMIT")

    @contextlib.asynccontextmanager
    async def read(self) -> AsyncIterator[InMemoryTransaction]:
        yield InMemoryTransaction(copy.deepcopy(self.state))

    def take_over(self) -> int:
        """A new claim: the server ends a transaction that a stopped run left open, then the token goes up."""
        if self._row_lock.locked():
            assert self._open is not None
            self._open.ended_by_server = True
            self._row_lock = asyncio.Lock()
        self.state.job.token += 1
        return self.state.job.token


@contextlib.contextmanager
def _inside() -> Any:
    run = current_run() or Run()
    run.inside_transaction = True
    try:
        yield
    finally:
        run.inside_transaction = False


@dataclass(frozen=True)
class InMemoryFence:
    """`job_advance` without SQL."""

    step: str
    token: int

    async def acquire(self, tx: InMemoryTransaction) -> None:
        job = tx.state.job
        if job.token != self.token or job.done:
            raise JobFencedOut(f"token {self.token}, the job is at {job.token}")
        job.step = self.step
        await reach("fenced")


class InMemoryPayments:
    """`PaymentTable` on a dict, with the same compare-and-set semantics (one test suite runs against both)."""

    async def insert(
        self,
        payment_id: UUID,
        *,
        order_id: UUID,
        amount_minor: int,
        currency: str,
        payment_method: str,
        settled: bool,
        tx: Any,
    ) -> Payment | None:
        if any(payment.order_id == order_id for payment in tx.state.payments.values()):
            return None
        payment = Payment(
            id=payment_id,
            order_id=order_id,
            status=PaymentStatus.SETTLED if settled else PaymentStatus.CREATED,
            amount_minor=amount_minor,
            currency=currency,
            payment_method=payment_method,
            intent_id=None,
            reason=None,
            cancel_requested_at=None,
            created_at=NOW,
            concluded_at=NOW if settled else None,
            refund_reserved_minor=0,
            refunded_minor=0,
        )
        tx.state.payments[payment_id] = payment
        return payment

    async def start(self, payment_id: UUID, tx: Any) -> Payment:
        payment = self._expect(payment_id, tx)
        if payment.status is PaymentStatus.CREATED:
            payment = await self._save(replace(payment, status=PaymentStatus.PROCESSING), tx)
        return payment

    async def keep_intent(self, payment_id: UUID, intent_id: str, tx: Any) -> None:
        payment = self._expect(payment_id, tx)
        if payment.intent_id is None:
            await self._save(replace(payment, intent_id=intent_id), tx)

    async def enter_confirming(self, payment_id: UUID, tx: Any) -> tuple[Payment, bool]:
        payment = self._expect(payment_id, tx)
        if (
            payment.status is not PaymentStatus.PROCESSING
            or payment.intent_id is None
            or payment.cancel_requested_at is not None
        ):
            return payment, False
        return await self._save(replace(payment, status=PaymentStatus.CONFIRMING), tx), True

    async def cancel(self, order_id: UUID, tx: Any) -> Payment | None:
        payment = next(payment for payment in tx.state.payments.values() if payment.order_id == order_id)
        if payment.cancel_requested_at is not None:
            return None
        recorded = replace(payment, cancel_requested_at=NOW)
        if payment.status in {PaymentStatus.CREATED, PaymentStatus.PROCESSING}:
            recorded = replace(recorded, status=PaymentStatus.CANCELLED, concluded_at=NOW)
        return await self._save(recorded, tx)

    async def conclude(
        self, payment_id: UUID, outcome: Outcome, *, intent_id: str | None, tx: Any, from_review: bool = False
    ) -> Payment | None:
        assert not from_review, "only checks do that, and they are tested on the real table"
        payment = self._expect(payment_id, tx)
        needed = PaymentStatus.PROCESSING if intent_id is None else PaymentStatus.CONFIRMING
        if payment.status is not needed or payment.intent_id != intent_id:
            return None
        if isinstance(outcome, Settled):
            concluded = replace(payment, status=PaymentStatus.SETTLED, concluded_at=NOW)
        elif isinstance(outcome, Declined) and payment.cancel_requested_at is not None:
            concluded = replace(payment, status=PaymentStatus.CANCELLED, concluded_at=NOW)
        elif isinstance(outcome, Declined):
            concluded = replace(payment, status=PaymentStatus.DECLINED, concluded_at=NOW, reason=outcome.reason)
        else:
            concluded = replace(payment, status=PaymentStatus.NEEDS_REVIEW, reason=outcome.reason)
        return await self._save(concluded, tx)

    async def find(self, payment_id: UUID, session: Any) -> Payment | None:
        payment: Payment | None = session.state.payments.get(payment_id)
        return payment

    def _expect(self, payment_id: UUID, tx: Any) -> Payment:
        payment: Payment | None = tx.state.payments.get(payment_id)
        if payment is None:
            raise PaymentNotFound(payment_id)
        return payment

    async def _save(self, payment: Payment, tx: Any) -> Payment:
        tx.state.payments[payment.id] = payment
        await reach("written")
        return payment


class InMemoryEventBus:
    """Publishes with the transaction: what rolls back was never said."""

    async def publish(self, event: Any, tx: Any) -> None:
        tx.state.published.append(event)
        await reach("published")
