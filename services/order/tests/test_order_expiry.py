"""Orders that are not paid in time, on a real database."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
from order_lab import TOTAL_MINOR, cancel_order, mark_declined, mark_paid, placed, record_refund, shown
from sqlalchemy import text

from order_service.bootstrap import order_service
from order_service.domain.orders import EXPIRE_ORDERS, ExpireOrdersPayload, ExpireUnpaidOrders, OrderStateConflict
from order_service.jobs import ExpireOrders
from service_platform.database import Database, Transaction
from service_platform.jobs import JobFencedOut, JobRunner, Lease

HOUR = timedelta(hours=1)


class HeldFence:
    """The fence of a run that nobody took over. `acquired` counts the transactions that it opened."""

    def __init__(self) -> None:
        self.acquired = 0

    async def acquire(self, tx: Transaction) -> None:
        self.acquired += 1


class LostFence:
    """The fence of a run that was taken over."""

    async def acquire(self, tx: Transaction) -> None:
        raise JobFencedOut("planted")


class NoLeases:
    """The job is over before a lease needs renewing."""

    def watch(self, lease: Lease) -> None:
        return None


async def aged(database: Database, *order_ids: UUID, by: timedelta) -> None:
    """As if they had been placed that much earlier."""
    earlier = text("UPDATE orders SET placed_at = placed_at - CAST(:by AS interval) WHERE id = ANY (:ids)")
    async with database.transaction() as tx:
        await tx.session.execute(earlier, {"by": by, "ids": [*order_ids]})


async def expire(database: Database, fence: HeldFence | LostFence | None = None) -> int:
    return await order_service(database).expire(ExpireUnpaidOrders(fence=fence or HeldFence(), unpaid_for=HOUR))


async def cancels_told(database: Database) -> list[str]:
    query = text("SELECT key FROM outbox WHERE headers ->> 'event-name' = 'order.cancel_requested' ORDER BY key")
    async with database.read() as session:
        return [*(await session.execute(query)).scalars()]


async def test_an_order_that_is_unpaid_for_too_long_is_cancelled_as_expired(order_database: Database) -> None:
    old, young = await placed(order_database), await placed(order_database)
    await aged(order_database, old.id, by=timedelta(minutes=61))
    await aged(order_database, young.id, by=timedelta(minutes=59))
    assert await expire(order_database) == 1
    view = await shown(order_database, old.id)
    assert (view.status, view.cancel_reason) == ("cancelling", "expired")
    assert (view.timeline[-1].event, view.timeline[-1].detail) == ("order.cancel_requested", {"reason": "expired"})
    assert (await shown(order_database, young.id)).status == "pending_payment"
    assert await cancels_told(order_database) == [str(old.id)]
    assert await expire(order_database) == 0, "an order expires once"


async def test_orders_that_were_paid_declined_or_refunded_do_not_expire(order_database: Database) -> None:
    service = order_service(order_database)
    paid, declined, refunded = [await placed(order_database) for _ in range(3)]
    await service.mark_paid(mark_paid(paid.id))
    await service.mark_declined(mark_declined(declined.id))
    await service.record_refund(record_refund(refunded.id, TOTAL_MINOR))  # it was paid, which is still to be heard of
    await aged(order_database, paid.id, declined.id, refunded.id, by=timedelta(days=1))
    assert await expire(order_database) == 0
    assert await cancels_told(order_database) == []


async def test_more_than_a_batch_is_cancelled_in_several_transactions_each_order_once(
    order_database: Database,
) -> None:
    copies = text(
        "INSERT INTO orders (id, customer_id, customer_email, locale, status, currency, total_minor, payment_method,"
        " placed_at) SELECT gen_random_uuid(), 'ann', 'ann@example.com', 'en', 'pending_payment', 'USD', 100, 'card',"
        " platform_now() - interval '2 hours' FROM generate_series(1, 250)"
    )
    async with order_database.transaction() as tx:
        await tx.session.execute(copies)
    fence = HeldFence()
    assert await expire(order_database, fence) == 250
    assert fence.acquired == 3, "a batch has a transaction of its own"
    told = await cancels_told(order_database)
    assert len(told) == len(set(told)) == 250


async def test_two_runs_at_once_cancel_each_order_once(order_database: Database) -> None:
    orders = [await placed(order_database) for _ in range(12)]
    await aged(order_database, *(order.id for order in orders), by=timedelta(hours=2))
    assert sum(await asyncio.gather(*(expire(order_database) for _ in range(3)))) == len(orders)
    assert await cancels_told(order_database) == sorted(str(order.id) for order in orders)


async def test_a_run_does_not_wait_for_an_order_that_somebody_holds(order_database: Database) -> None:
    held, free = await placed(order_database), await placed(order_database)
    await aged(order_database, held.id, free.id, by=timedelta(hours=2))
    async with order_database.autocommit() as holder, holder.transaction():
        await holder.execute("SELECT FROM orders WHERE id = $1 FOR UPDATE", held.id)
        async with asyncio.timeout(20):
            assert await expire(order_database) == 1
    assert (await shown(order_database, held.id)).status == "pending_payment"
    assert await expire(order_database) == 1


async def test_a_stale_run_cancels_nothing(order_database: Database) -> None:
    order = await placed(order_database)
    await aged(order_database, order.id, by=timedelta(hours=2))
    with pytest.raises(JobFencedOut):
        await expire(order_database, LostFence())
    assert (await shown(order_database, order.id)).status == "pending_payment"
    assert await cancels_told(order_database) == []


async def test_an_order_that_is_paid_or_cancelled_while_it_expires_is_asked_for_once(order_database: Database) -> None:
    service = order_service(order_database)
    for _ in range(5):
        order = await placed(order_database)
        await aged(order_database, order.id, by=timedelta(hours=2))
        await asyncio.gather(
            expire(order_database), service.cancel(cancel_order(order.id)), service.mark_paid(mark_paid(order.id))
        )
        view = await shown(order_database, order.id)
        assert view.status == "cancelling"  # the customer's cancel comes through in any case
        assert view.paid_at is not None
        assert sum(entry.event == "order.cancel_requested" for entry in view.timeline) == 1
        assert (await cancels_told(order_database)).count(str(order.id)) == 1
        with pytest.raises(OrderStateConflict):
            await service.mark_declined(mark_declined(order.id))


async def test_the_job_cancels_what_is_overdue_under_its_own_fence(order_database: Database) -> None:
    order = await placed(order_database)
    await aged(order_database, order.id, by=timedelta(hours=2))
    async with order_database.transaction() as tx:
        job_id = await EXPIRE_ORDERS.enqueue(ExpireOrdersPayload(), tx, key="expire-orders:test")
    processor = ExpireOrders(order_service(order_database), HOUR)
    await JobRunner(order_database, [processor], leases=NoLeases()).run(EXPIRE_ORDERS.name, job_id)
    async with order_database.read() as session:
        job = (await session.execute(text("SELECT status, current_step, token FROM job"))).one()
    assert tuple(job) == ("done", "expire-orders", 1)
    assert (await shown(order_database, order.id)).cancel_reason == "expired"
