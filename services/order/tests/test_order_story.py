"""What becomes of an order, on a real database."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import pytest
from order_lab import ISSUED_AT, SETTLED_AT, mark_declined, mark_paid, placed, record_invoice

from order_service.bootstrap import order_service
from order_service.domain.orders import OrderNotFound, OrderQueries, OrderStateConflict, OrderView
from service_platform.database import Database
from service_platform.inbox import AlreadyHandled


async def shown(database: Database, order_id: UUID) -> OrderView:
    return await OrderQueries(database).get(order_id, customer_id=None)


async def test_a_paid_and_invoiced_order_tells_its_story_in_the_times_that_things_occurred(
    order_database: Database,
) -> None:
    order = await placed(order_database)
    service = order_service(order_database)
    await service.mark_paid(mark_paid(order.id))
    await service.record_invoice(record_invoice(order.id))
    view = await shown(order_database, order.id)
    assert (view.status, view.invoice_number) == ("paid", "INV-2026-000001")
    told = {entry.event: entry for entry in view.timeline}
    assert set(told) == {"order.placed", "payment.settled", "invoice.issued"}
    assert (told["payment.settled"].at, told["invoice.issued"].at) == (SETTLED_AT, ISSUED_AT)
    assert told["invoice.issued"].detail["invoice_number"] == "INV-2026-000001"
    assert [entry.at for entry in view.timeline] == sorted(entry.at for entry in view.timeline)


async def test_an_invoice_that_is_told_before_the_payment_changes_no_state(order_database: Database) -> None:
    order = await placed(order_database)
    service = order_service(order_database)
    await service.record_invoice(record_invoice(order.id))
    early = await shown(order_database, order.id)
    assert (early.status, early.invoice_number) == ("pending_payment", "INV-2026-000001")
    await service.mark_paid(mark_paid(order.id))
    assert (await shown(order_database, order.id)).status == "paid"


async def test_a_declined_order_says_why(order_database: Database) -> None:
    order = await placed(order_database)
    await order_service(order_database).mark_declined(mark_declined(order.id))
    view = await shown(order_database, order.id)
    assert view.status == "declined"
    assert view.timeline[0].detail["reason"] == "card_declined"  # it occurred in March, before the order was placed


async def test_the_same_delivery_twice_takes_effect_once(order_database: Database) -> None:
    order = await placed(order_database)
    command = mark_paid(order.id)
    await order_service(order_database).mark_paid(command)
    with pytest.raises(AlreadyHandled):
        await order_service(order_database).mark_paid(command)
    assert len((await shown(order_database, order.id)).timeline) == 2


async def test_paid_and_declined_at_the_same_instant_end_as_exactly_one(order_database: Database) -> None:
    service = order_service(order_database)
    for _ in range(5):
        order = await placed(order_database)
        ends = await asyncio.gather(
            service.mark_paid(mark_paid(order.id)),
            service.mark_declined(mark_declined(order.id)),
            return_exceptions=True,
        )
        assert sorted(type(end).__name__ for end in ends) == ["NoneType", "OrderStateConflict"]
        view = await shown(order_database, order.id)
        assert view.status == ("paid" if ends[0] is None else "declined")
        assert len(view.timeline) == 2, "the refused one left an entry in the timeline"


async def test_what_is_told_of_a_final_order_is_refused_and_can_be_delivered_again(order_database: Database) -> None:
    order = await placed(order_database)
    service = order_service(order_database)
    await service.mark_declined(mark_declined(order.id))
    late = mark_paid(order.id)
    for _ in range(2):  # the second try is no duplicate: the first one was rolled back with its inbox row
        with pytest.raises(OrderStateConflict):
            await service.mark_paid(late)
    assert (await shown(order_database, order.id)).status == "declined"


async def test_what_is_told_of_an_unknown_order_is_refused(order_database: Database) -> None:
    service = order_service(order_database)
    with pytest.raises(OrderNotFound):
        await service.mark_paid(mark_paid(uuid4()))
    with pytest.raises(OrderNotFound):
        await service.record_invoice(record_invoice(uuid4()))


async def test_a_reader_never_sees_a_state_without_its_entry_in_the_timeline(order_database: Database) -> None:
    service = order_service(order_database)
    order = await placed(order_database)
    paying = asyncio.ensure_future(service.mark_paid(mark_paid(order.id)))
    while not paying.done():
        view = await shown(order_database, order.id)
        assert (view.status == "paid") == (len(view.timeline) == 2)
    await paying
