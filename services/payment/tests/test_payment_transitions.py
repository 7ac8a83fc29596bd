"""The state machine: one suite for the table and for its double in memory, whose tests then mean something."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from payment_doubles import NOW, InMemoryDatabase, InMemoryPayments
from sqlalchemy import update

from payment_service.domain.payments import PaymentNotFound, PaymentStatus, PaymentTable
from payment_service.domain.payments.models import Declined, NotDecidable, Outcome, Payment, Settled
from payment_service.domain.payments.tables import payments


class Storage:
    """One payment, in either kind of storage; each method is a transaction of its own."""

    def __init__(self, database: Any, table: Any) -> None:
        self._database = database
        self._table = table
        self.payment_id = uuid4()
        self._order_id = uuid4()

    async def insert(self, *, settled: bool = False) -> Any:
        return await self._in_transaction(
            "insert",
            order_id=self._order_id,
            amount_minor=0 if settled else 1999,
            currency="EUR",
            payment_method="pm_card_visa",
            settled=settled,
        )

    async def start(self) -> Any:
        return await self._in_transaction("start")

    async def keep_intent(self, intent_id: str) -> None:
        async with self._database.transaction() as tx:
            await self._table.keep_intent(self.payment_id, intent_id, tx)

    async def enter_confirming(self) -> Any:
        return await self._in_transaction("enter_confirming")

    async def conclude(self, outcome: Outcome, intent_id: str | None) -> Any:
        async with self._database.transaction() as tx:
            return await self._table.conclude(self.payment_id, outcome, intent_id=intent_id, tx=tx)

    async def record_cancel(self) -> None:
        async with self._database.transaction() as tx:
            if isinstance(self._table, InMemoryPayments):
                payment = tx.state.payments[self.payment_id]
                tx.state.payments[self.payment_id] = replace(payment, cancel_requested_at=NOW)
            else:
                await tx.session.execute(update(payments).values(cancel_requested_at=NOW))

    async def now(self) -> Payment:
        async with self._database.read() as session:
            payment = await self._table.find(self.payment_id, session)
        assert isinstance(payment, Payment)
        return payment

    async def reach(self, status: PaymentStatus) -> None:
        """Bring a new payment on the usual way to `created`, `processing` or `confirming`."""
        await self.insert()
        if status is not PaymentStatus.CREATED:
            await self.start()
        if status is PaymentStatus.CONFIRMING:
            await self.keep_intent("pi_1")
            await self.enter_confirming()

    async def _in_transaction(self, transition: str, **arguments: Any) -> Any:
        async with self._database.transaction() as tx:
            return await getattr(self._table, transition)(self.payment_id, **arguments, tx=tx)


@pytest.fixture(params=["in memory", pytest.param("in PostgreSQL", marks=pytest.mark.needs_stack)])
async def storage(request: pytest.FixtureRequest) -> AsyncIterator[Storage]:
    if request.param == "in memory":
        yield Storage(InMemoryDatabase(), InMemoryPayments())
        return
    databases = request.getfixturevalue("service_databases")
    async with databases.migrated("payment") as made, made.opened() as database:
        yield Storage(database, PaymentTable())


async def test_a_payment_begins_created_or_for_a_free_order_settled(storage: Storage) -> None:
    created = await storage.insert()
    assert (created.status, created.concluded_at, created.intent_id) == (PaymentStatus.CREATED, None, None)
    assert await storage.now() == created


async def test_a_free_payment_begins_settled(storage: Storage) -> None:
    settled = await storage.insert(settled=True)
    assert settled.status is PaymentStatus.SETTLED
    assert settled.concluded_at is not None


async def test_an_order_has_one_payment(storage: Storage) -> None:
    first = await storage.insert()
    storage.payment_id, first_id = uuid4(), storage.payment_id
    assert await storage.insert() is None
    storage.payment_id = first_id
    assert await storage.now() == first


async def test_starting_moves_a_created_payment_and_shows_any_other_as_it_is(storage: Storage) -> None:
    await storage.insert()
    assert (await storage.start()).status is PaymentStatus.PROCESSING
    await storage.keep_intent("pi_1")
    await storage.enter_confirming()
    assert (await storage.start()).status is PaymentStatus.CONFIRMING


@pytest.mark.parametrize("transition", ["start", "enter_confirming"])
async def test_a_payment_that_is_not_there_is_not_found(storage: Storage, transition: str) -> None:
    with pytest.raises(PaymentNotFound):
        await getattr(storage, transition)()


async def test_the_first_intent_stays_for_ever(storage: Storage) -> None:
    await storage.reach(PaymentStatus.PROCESSING)
    await storage.keep_intent("pi_1")
    await storage.keep_intent("pi_2")
    assert (await storage.now()).intent_id == "pi_1"


async def test_only_a_payment_with_an_intent_enters_confirming_and_only_once(storage: Storage) -> None:
    await storage.reach(PaymentStatus.PROCESSING)
    assert (await storage.enter_confirming())[1] is False
    await storage.keep_intent("pi_1")
    payment, moved = await storage.enter_confirming()
    assert (payment.status, moved) == (PaymentStatus.CONFIRMING, True)
    payment, moved = await storage.enter_confirming()
    assert (payment.status, moved) == (PaymentStatus.CONFIRMING, False)


async def test_a_recorded_cancel_keeps_a_payment_from_confirming(storage: Storage) -> None:
    await storage.reach(PaymentStatus.PROCESSING)
    await storage.keep_intent("pi_1")
    await storage.record_cancel()
    payment, moved = await storage.enter_confirming()
    assert (payment.status, moved) == (PaymentStatus.PROCESSING, False)


@pytest.mark.parametrize(
    ("outcome", "status", "reason"),
    [
        (Settled(), PaymentStatus.SETTLED, None),
        (Declined("insufficient_funds"), PaymentStatus.DECLINED, "insufficient_funds"),
        (NotDecidable("amount_too_large"), PaymentStatus.NEEDS_REVIEW, "amount_too_large"),
    ],
)
async def test_an_answer_for_the_stored_intent_concludes_a_payment_once(
    storage: Storage, outcome: Outcome, status: PaymentStatus, reason: str | None
) -> None:
    await storage.reach(PaymentStatus.CONFIRMING)
    concluded = await storage.conclude(outcome, "pi_1")
    assert (concluded.status, concluded.reason) == (status, reason)
    assert (concluded.concluded_at is not None) == (status is not PaymentStatus.NEEDS_REVIEW)
    for late in (Settled(), Declined("late"), NotDecidable("late")):
        assert await storage.conclude(late, "pi_1") is None
    assert await storage.now() == concluded


async def test_an_answer_for_another_intent_concludes_nothing(storage: Storage) -> None:
    await storage.reach(PaymentStatus.CONFIRMING)
    assert await storage.conclude(Settled(), "pi_2") is None
    assert await storage.conclude(Declined("no intent"), None) is None
    assert (await storage.now()).status is PaymentStatus.CONFIRMING


async def test_a_payment_without_an_intent_can_be_declined_while_processing_only(storage: Storage) -> None:
    await storage.insert()
    assert await storage.conclude(Declined("early"), None) is None
    await storage.start()
    declined = await storage.conclude(Declined("resource_missing"), None)
    assert (declined.status, declined.reason) == (PaymentStatus.DECLINED, "resource_missing")


async def test_a_payment_that_never_confirmed_is_not_concluded_by_an_answer(storage: Storage) -> None:
    await storage.reach(PaymentStatus.PROCESSING)
    await storage.keep_intent("pi_1")
    assert await storage.conclude(Settled(), "pi_1") is None
    assert (await storage.now()).status is PaymentStatus.PROCESSING
