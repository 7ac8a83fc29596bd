"""What becomes of an order, on a real database."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from order_lab import (
    CREDITED_AT,
    ISSUED_AT,
    SETTLED_AT,
    cancel_order,
    mark_declined,
    mark_paid,
    placed,
    record_credit_note,
    record_invoice,
    record_refund,
    shown,
)

from order_service.bootstrap import order_service
from order_service.domain.orders import OrderNotFound, OrderStateConflict
from service_platform.database import Database
from service_platform.inbox import AlreadyHandled


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
    with pytest.raises(OrderNotFound):
        await service.record_refund(record_refund(uuid4()))
    with pytest.raises(OrderNotFound):
        await service.record_credit_note(record_credit_note(uuid4()))


async def test_a_reader_never_sees_a_state_without_its_entry_in_the_timeline(order_database: Database) -> None:
    service = order_service(order_database)
    order = await placed(order_database)
    paying = asyncio.ensure_future(service.mark_paid(mark_paid(order.id)))
    while not paying.done():
        view = await shown(order_database, order.id)
        assert (view.status == "paid") == (len(view.timeline) == 2)
    await paying


async def test_the_story_of_a_cancelled_order_names_each_refund_and_document(order_database: Database) -> None:
    order = await placed(order_database)
    service = order_service(order_database)
    await service.mark_paid(mark_paid(order.id))
    await service.record_invoice(record_invoice(order.id))
    await service.record_refund(record_refund(order.id, 1_000))
    await service.cancel(cancel_order(order.id))
    await service.record_credit_note(record_credit_note(order.id, "CN-2026-000002"))  # billing's topic may be faster
    await service.record_refund(record_refund(order.id, 2_250))
    await service.record_credit_note(record_credit_note(order.id, "CN-2026-000001"))
    view = await shown(order_database, order.id)
    assert (view.status, view.refunded_minor, view.paid_at) == ("cancelled", 3_250, SETTLED_AT)
    assert view.credit_note_numbers == ["CN-2026-000002", "CN-2026-000001"]
    assert view.cancel_reason == "customer"
    occurred_in_march = [entry.event for entry in view.timeline[:-2]]
    assert occurred_in_march == [
        "payment.settled",
        "invoice.issued",
        "payment.refunded",
        "payment.refunded",
        "order.cancelled",
        "credit_note.issued",
        "credit_note.issued",
    ]
    assert [entry.event for entry in view.timeline[-2:]] == ["order.placed", "order.cancel_requested"]
    assert {entry.detail["amount_minor"] for entry in view.timeline if entry.event == "payment.refunded"} == {
        "1000",
        "2250",
    }
    assert view.timeline[-1].at == view.cancel_requested_at
    assert view.timeline[5].at == CREDITED_AT


async def test_what_occurred_at_the_same_instant_is_told_in_the_order_in_which_it_was_heard_of(
    order_database: Database,
) -> None:
    order = await placed(order_database)
    service = order_service(order_database)
    numbers = [f"CN-2026-{number:06}" for number in (3, 1, 2)]
    for number in numbers:
        await service.record_credit_note(record_credit_note(order.id, number))
    for _ in range(3):
        told = [entry.detail for entry in (await shown(order_database, order.id)).timeline[:3]]
        assert [detail["credit_note_number"] for detail in told] == numbers
