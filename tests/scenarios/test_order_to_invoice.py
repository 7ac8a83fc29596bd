"""The happy paths, watched at every public place: API, provider ledger, mailbox."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from world.story import CARD_THAT_IS_DECLINED, order_body
from world.waiting import eventually
from world.world import World


@pytest.mark.scenario("suite/order-to-invoice")
async def test_one_order_becomes_one_capture_one_invoice_one_mail(world: World) -> None:
    order = await world.story.place(order_body(unit_price_minor=1999, quantity=3))
    view = await world.story.until_mailed(order)

    assert [entry["event"] for entry in view["timeline"]] == ["order.placed", "payment.settled", "invoice.issued"]
    _, moves = await world.story.at_the_provider(order)
    assert [(move.kind, move.amount_minor, move.currency) for move in moves] == [("capture", 5997, "eur")]
    (payment,) = await world.story.payments(order)
    assert (payment.status, payment.amount_minor) == ("settled", 5997)
    (invoice,) = await world.story.clients.billing.invoices_of(order.customer)
    assert (invoice.number, invoice.total_minor) == (view["invoice_number"], 5997)
    (mail,) = await world.story.mails(view)
    assert mail.to == ("reader@example.com",)
    (attachment,) = mail.attachments
    assert attachment.content_type == "application/pdf"
    pdf = await world.story.clients.billing.pdf(order.customer, invoice.id)
    assert len(pdf) == attachment.size


@pytest.mark.scenario("suite/free-order")
async def test_a_total_of_zero_makes_no_provider_call_and_is_invoiced_and_mailed(world: World) -> None:
    order = await world.story.place(order_body(unit_price_minor=0))
    view = await world.story.until_mailed(order)

    calls, moves = await world.story.at_the_provider(order)
    assert (calls, moves) == ([], [])
    (payment,) = await world.story.payments(order)
    assert (payment.status, payment.amount_minor) == ("settled", 0)
    assert (
        await world.databases.value(
            "payment", "SELECT count(*) FROM job WHERE payload::text LIKE $1", f"%{payment.id}%"
        )
        == 0
    )
    assert len(await world.story.mails(view)) == 1


@pytest.mark.scenario("suite/idempotent-post")
async def test_the_same_key_twice_at_once_and_later_makes_one_order(world: World) -> None:
    customer, key, body = f"customer-{uuid4()}", str(uuid4()), order_body()

    at_once = await asyncio.gather(*(world.story.post(body, customer=customer, key=key) for _ in range(8)))
    later = await world.story.post(body, customer=customer, key=key)

    answers = [*at_once, later]
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1, "a replay is the first answer to the letter"
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
    assert await world.databases.value("order", "SELECT count(*) FROM orders WHERE customer_id = $1", customer) == 1

    other_body = await world.story.post(order_body(quantity=9), customer=customer, key=key)
    assert other_body.status_code == 422
    somebody_else = await world.story.post(body, customer=f"customer-{uuid4()}", key=key)
    assert somebody_else.json()["id"] != later.json()["id"], "a key belongs to its customer"


@pytest.mark.scenario("suite/declined-card")
async def test_a_declined_card_declines_the_order_cancels_its_intent_and_captures_nothing(world: World) -> None:
    order = await world.story.place(order_body(card=CARD_THAT_IS_DECLINED))

    async def declined() -> bool:
        return bool((await world.story.view(order))["status"] == "declined")

    await eventually(declined, what=f"order {order.id} is declined")
    calls, moves = await world.story.at_the_provider(order)
    assert moves == []
    changes = [call.operation for call in calls if not call.operation.endswith((".retrieve", ".list"))]
    assert changes[-1] == "payment_intents.cancel", "nothing tries the card again; webhooks only have it looked at"
    (payment,) = await world.story.payments(order)
    assert payment.status == "declined"
    assert await world.story.clients.billing.invoices_of(order.customer) == []
