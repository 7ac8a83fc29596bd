"""An order's cancel against its payment, in every state that the payment can be in."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from payment_lab import PaymentLab, open_payment

from payment_service.domain.payments import CancelPayment
from service_platform.inbox import AlreadyHandled, InboxClaim
from world.waiting import eventually


async def test_before_the_capture_began_the_payment_is_cancelled_and_the_provider_is_never_called(
    lab: PaymentLab,
) -> None:
    order_id = await lab.placed()
    await lab.cancelled(order_id)
    await lab.deliver()
    payment = await lab.payment()
    assert (payment["status"], payment["intent_id"]) == ("cancelled", None)
    assert payment["concluded_at"] is not None
    assert await lab.told() == ["payment.cancelled"]
    assert (await lab.ledger())["calls"] == []
    assert await lab.rows("SELECT status FROM job") == [{"status": "done"}]


async def test_before_confirming_the_stored_intent_is_cancelled_at_the_provider_too(lab: PaymentLab) -> None:
    order_id = await lab.placed()
    await lab.fault(operation="payment_intents.create", outcome="drop", point="after", times=2)
    await lab.deliver()
    assert (await lab.payment())["status"] == "processing"
    await lab.let_time_pass()
    await lab.fault(operation="payment_intents.create", hold=True, point="after")
    capture = asyncio.create_task(lab.deliver())
    await _held(lab, "payment_intents.create")
    await lab.cancelled(order_id)
    await lab.double.post("/held/release")
    await capture
    payment = await lab.payment()
    assert payment["status"] == "cancelled"
    assert await lab.at_the_provider(payment["intent_id"]) == "canceled", "nobody may confirm it later"
    assert await lab.told() == ["payment.cancelled"]
    assert await lab.moved() == []


async def test_while_confirming_the_cancel_is_only_recorded_and_settling_turns_it_into_one_refund(
    lab: PaymentLab,
) -> None:
    order_id = await lab.placed()
    await lab.fault(operation="payment_intents.confirm", hold=True)
    capture = asyncio.create_task(lab.deliver())
    await _held(lab, "payment_intents.confirm")
    await lab.cancelled(order_id)
    assert (await lab.payment())["status"] == "confirming"
    assert await lab.told() == []
    await lab.double.post("/held/release")
    await capture
    payment = await lab.payment()
    assert (payment["status"], payment["refunded_minor"], payment["refund_reserved_minor"]) == ("settled", 1999, 0)
    assert await lab.told() == ["payment.settled", "payment.refunded"]
    assert await lab.moved() == [("capture", 1999), ("refund", 1999)]
    (refund,) = await lab.refunds()
    assert (refund["reason"], refund["status"]) == ("order_cancelled", "done")


async def test_a_run_that_finds_a_recorded_cancel_cancels_the_intent_instead_of_confirming_it(lab: PaymentLab) -> None:
    order_id = await lab.placed()
    await lab.fault(operation="payment_intents.confirm", outcome="drop", times=2)
    await lab.deliver()
    assert (await lab.payment())["status"] == "confirming"
    await lab.cancelled(order_id)
    await lab.let_time_pass()
    await lab.deliver()
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("cancelled", None)
    assert await lab.told() == ["payment.cancelled"]
    assert await lab.moved() == []


async def test_a_capture_that_had_happened_before_the_cancel_is_given_back(lab: PaymentLab) -> None:
    order_id = await lab.placed()
    await lab.fault(operation="payment_intents.confirm", outcome="status", status=500, point="after")
    await lab.deliver()
    await lab.cancelled(order_id)
    await lab.let_time_pass()
    await lab.deliver()
    assert await lab.told() == ["payment.settled", "payment.refunded"]
    assert await lab.moved() == [("capture", 1999), ("refund", 1999)]


async def test_of_a_settled_payment_all_that_is_left_goes_back(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 500)
    await lab.cancelled(payment["order_id"])
    await lab.deliver()
    assert sorted(await lab.moved()) == [("capture", 1999), ("refund", 500), ("refund", 1499)]
    assert await lab.told() == ["payment.settled", "payment.refunded", "payment.refunded"]


async def test_a_refund_on_its_way_is_the_answer_where_nothing_else_is_left(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"])
    await lab.cancelled(payment["order_id"])
    await lab.deliver()
    assert await lab.moved() == [("capture", 1999), ("refund", 1999)]
    assert await lab.told() == ["payment.settled", "payment.refunded"]


async def test_where_all_went_back_before_the_answer_comes_at_once(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"])
    await lab.deliver()
    await lab.cancelled(payment["order_id"])
    await lab.deliver()
    assert await lab.moved() == [("capture", 1999), ("refund", 1999)]
    assert await lab.told() == ["payment.settled", "payment.refunded", "payment.cancelled"]


async def test_a_free_order_is_cancelled_without_a_refund(lab: PaymentLab) -> None:
    await lab.cancelled(await lab.placed(total_minor=0))
    await lab.deliver()
    assert await lab.told() == ["payment.settled", "payment.cancelled"]
    assert await lab.refunds() == []
    assert (await lab.ledger())["calls"] == []


async def test_a_declined_payment_answers_a_late_cancel_and_stays_declined(lab: PaymentLab) -> None:
    order_id = await lab.placed(payment_method="pm_card_chargeDeclined")
    await lab.deliver()
    await lab.cancelled(order_id)
    assert (await lab.payment())["status"] == "declined"
    assert await lab.told() == ["payment.declined", "payment.cancelled"]


async def test_what_was_declined_while_a_cancel_was_recorded_is_cancelled_by_it(lab: PaymentLab) -> None:
    order_id = await lab.placed(payment_method="pm_card_chargeDeclined")
    await lab.fault(operation="payment_intents.confirm", hold=True)
    capture = asyncio.create_task(lab.deliver())
    await _held(lab, "payment_intents.confirm")
    await lab.cancelled(order_id)
    await lab.double.post("/held/release")
    await capture
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("cancelled", None)
    assert await lab.told() == ["payment.cancelled"]


async def test_what_the_provider_refused_before_there_was_an_intent_can_still_be_cancelled(lab: PaymentLab) -> None:
    order_id = await lab.placed(total_minor=100_000_000)
    await lab.deliver()
    assert (await lab.payment())["status"] == "needs_review"
    await lab.cancelled(order_id)
    assert (await lab.payment())["status"] == "cancelled"
    assert await lab.told() == ["payment.cancelled"]


async def test_a_second_cancel_and_a_second_delivery_change_nothing(lab: PaymentLab) -> None:
    payment = await lab.settled()
    command = CancelPayment(
        claim=InboxClaim("payment.cancel-payment", "order", "key", uuid4()), order_id=payment["order_id"]
    )
    await lab.service.cancel(command)
    with pytest.raises(AlreadyHandled):
        await lab.service.cancel(command)
    await lab.cancelled(payment["order_id"])
    await lab.deliver()
    assert await lab.moved() == [("capture", 1999), ("refund", 1999)]
    assert await lab.told() == ["payment.settled", "payment.refunded"]


async def test_a_cancel_that_comes_before_the_payment_keeps_it_from_ever_capturing(lab: PaymentLab) -> None:
    """The order's two events have consumers of their own, so a retry of the first lets the second pass."""
    order_id = uuid4()
    await lab.cancelled(order_id)
    await lab.service.open_payment(open_payment(order_id))
    await lab.deliver()
    payment = await lab.payment(order_id)
    assert payment["status"] == "cancelled"
    assert await lab.told() == ["payment.cancelled"]
    assert (await lab.ledger())["calls"] == []
    assert await lab.rows("SELECT id FROM job") == []


async def test_a_cancel_and_the_opening_at_the_same_instant_see_each_other(lab: PaymentLab) -> None:
    orders = [uuid4() for _ in range(20)]
    await asyncio.gather(
        *(lab.cancelled(order_id) for order_id in orders),
        *(lab.service.open_payment(open_payment(order_id)) for order_id in orders),
    )
    await lab.deliver()
    assert {row["status"] for row in await lab.rows("SELECT status FROM payments")} == {"cancelled"}
    assert await lab.told() == ["payment.cancelled"] * 20
    assert await lab.moved() == []


async def _held(lab: PaymentLab, operation: str) -> None:
    """Wait until the double holds a call of that operation."""

    async def looked() -> bool:
        return any(held["operation"] == operation for held in (await lab.double.get("/held")).json())

    await eventually(looked, what=f"a call of {operation} is held", within=20)
