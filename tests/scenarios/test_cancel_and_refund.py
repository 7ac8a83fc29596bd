"""Orders that are given up or given back, watched at every public place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from world.story import order_body
from world.waiting import eventually
from world.world import World


@pytest.mark.scenario("suite/cancel-before-payment")
async def test_an_order_cancelled_before_payment_moves_no_money(world: World) -> None:
    world.stack.stop("payment-worker")
    opened = await world.story.place()
    await eventually(lambda: world.story.payments(opened), what="payment has opened the order's payment")
    world.stack.stop("payment-consumer")
    unheard_of = await world.story.place()

    for order in (opened, unheard_of):
        assert (await world.story.cancel(order))["status"] == "cancelling"
    for process in ("payment-consumer", "payment-worker"):
        world.stack.start(process)
    for order in (opened, unheard_of):
        view = await world.story.until(order, "cancelled")
        assert [entry["event"] for entry in view["timeline"]] == [
            "order.placed",
            "order.cancel_requested",
            "payment.cancelled",
            "order.cancelled",
        ]
        assert (view["cancel_reason"], view["refunded_minor"], view["paid_at"]) == ("customer", 0, None)
        assert (await world.story.cancel(order))["status"] == "cancelled", "asking again changes nothing"

    # What is placed after them is paid: the worker has had its turn, and left the cancelled ones alone.
    await world.story.until_mailed(await world.story.place())
    for order in (opened, unheard_of):
        _, moves = await world.story.at_the_provider(order)
        assert moves == []
        (payment,) = await world.story.payments(order)
        assert payment.status == "cancelled"
        assert await world.story.clients.billing.invoices_of(order.customer) == []
        assert (await world.story.view(order))["status"] == "cancelled"


@pytest.mark.scenario("suite/refund-issues-credit-note")
async def test_refunds_at_once_never_exceed_the_capture_and_have_a_credit_note_each(world: World) -> None:
    order = await world.story.place(order_body(unit_price_minor=1_999, quantity=3))  # 5,997 in all
    paid = await world.story.until_mailed(order)
    (payment,) = await world.story.payments(order)

    answers = await asyncio.gather(*(world.story.refund(payment, 2_500) for _ in range(3)))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 409]

    async def credited(count: int) -> list[dict[str, Any]] | None:
        notes = await world.story.credit_notes(order)
        known = (await world.story.view(order))["credit_note_numbers"]
        all_there = len(notes) == len(known) == count and all(note["mailed_at"] for note in notes)
        return notes if all_there else None

    notes = await eventually(lambda: credited(2), what="two credit notes are mailed and known", within=90)
    assert [note["total_minor"] for note in notes] == [2_500, 2_500]
    assert {note["invoice_number"] for note in notes} == {paid["invoice_number"]}
    assert len({note["refund_id"] for note in notes}) == 2
    view = await world.story.view(order)
    assert (view["status"], view["refunded_minor"]) == ("paid", 5_000)

    assert (await world.story.refund(payment, 998)).status_code == 409, "more than is left"
    assert (await world.story.refund(payment, 997)).status_code == 201
    notes = await eventually(lambda: credited(3), what="the last credit note is mailed and known", within=90)
    view = await world.story.view(order)
    assert (view["status"], view["refunded_minor"]) == ("paid", 5_997)
    events = [entry["event"] for entry in view["timeline"]]
    assert (events.count("payment.refunded"), events.count("credit_note.issued")) == (3, 3)

    invoiced = await world.databases.value(
        "billing",
        "SELECT sum((tax ->> 'tax_minor')::bigint) FROM invoices, jsonb_array_elements(taxes) AS tax"
        " WHERE order_id::text = $1",
        order.id,
    )
    assert sum(tax["tax_minor"] for note in notes for tax in note["taxes"]) == invoiced, "all tax is given back"
    _, moves = await world.story.at_the_provider(order)
    assert [(move.kind, move.amount_minor) for move in moves] == [
        ("capture", 5_997),
        ("refund", 2_500),
        ("refund", 2_500),
        ("refund", 997),
    ]
    summaries = [summary async for summary in world.story.clients.mailbox.summaries()]
    for note in notes:
        assert sum(note["number"] in summary["Subject"] for summary in summaries) == 1
