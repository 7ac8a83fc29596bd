"""The capture job on a real database, through the real SDK, judged by the provider's ledger."""

from __future__ import annotations

from uuid import uuid4

import pytest
from payment_lab import PaymentLab

from payment_service.domain.payments import IntentStateConflict
from service_platform.jobs import RunKey
from service_platform.jobs.run import CLAIMED


async def test_a_capture_settles_the_payment_and_tells_once(lab: PaymentLab) -> None:
    order_id = await lab.placed()
    await lab.deliver()
    payment = await lab.payment()
    ledger = await lab.ledger()
    assert payment["status"] == "settled"
    assert await lab.told() == ["payment.settled"]
    (move,) = ledger["moves"]
    assert (move["amount"], move["intent"], move["order_id"]) == (1999, payment["intent_id"], str(order_id))
    assert [call["operation"] for call in ledger["calls"]] == ["payment_intents.create", "payment_intents.confirm"]
    assert (await lab.rows("SELECT status, token FROM job")) == [{"status": "done", "token": 1}]


async def test_a_second_hint_of_a_finished_job_calls_nobody(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.deliver()
    calls = (await lab.ledger())["calls"]
    (job,) = await lab.rows("SELECT id FROM job")
    await lab.deliver_again(job["id"])
    assert (await lab.ledger())["calls"] == calls


async def test_a_declined_card_cancels_its_intent_before_the_payment_says_declined(lab: PaymentLab) -> None:
    await lab.placed(payment_method="pm_card_chargeDeclinedInsufficientFunds")
    await lab.deliver()
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("declined", "insufficient_funds")
    assert await lab.told() == ["payment.declined"]
    ledger = await lab.ledger()
    assert ledger["moves"] == []
    assert ledger["calls"][-1]["operation"] == "payment_intents.cancel"


async def test_an_unusable_payment_method_is_declined_without_an_intent(lab: PaymentLab) -> None:
    await lab.placed(payment_method="pm_nobody_has")
    await lab.deliver()
    payment = await lab.payment()
    assert (payment["status"], payment["reason"], payment["intent_id"]) == ("declined", "resource_missing", None)
    assert await lab.told() == ["payment.declined"]


async def test_what_the_provider_refuses_waits_for_a_person_and_tells_nobody(lab: PaymentLab) -> None:
    await lab.placed(total_minor=100_000_000)
    await lab.deliver()
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("needs_review", "amount_too_large")
    assert await lab.told() == []


@pytest.mark.parametrize("point", ["before", "after"])
@pytest.mark.parametrize("operation", ["payment_intents.create", "payment_intents.confirm"])
async def test_an_answer_that_is_lost_for_good_is_settled_by_a_later_run(
    lab: PaymentLab, operation: str, point: str
) -> None:
    await lab.placed()
    await lab.fault(operation=operation, point=point, outcome="drop", times=2)
    await lab.deliver()
    assert (await lab.payment())["status"] in {"processing", "confirming"}, "an unknown outcome stays open"
    assert (await lab.rows("SELECT status FROM job")) == [{"status": "failed"}]
    await lab.let_time_pass()
    await lab.deliver()
    payment = await lab.payment()
    assert payment["status"] == "settled"
    assert [move["intent"] for move in (await lab.ledger())["moves"]] == [payment["intent_id"]]
    assert await lab.told() == ["payment.settled"]


async def test_a_capture_that_had_happened_is_not_confirmed_again(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.fault(operation="payment_intents.confirm", point="after", outcome="status", status=500)
    await lab.deliver()
    await lab.let_time_pass()
    await lab.deliver()
    operations = [call["operation"] for call in (await lab.ledger())["calls"]]
    assert operations == ["payment_intents.create", "payment_intents.confirm", "payment_intents.retrieve"]
    assert (await lab.payment())["status"] == "settled"


async def test_an_outage_of_the_provider_leaves_the_payment_open(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.fault(operation="*", outcome="status", status=503, stored=False, times=100)
    for _ in range(3):
        await lab.deliver()
        await lab.let_time_pass()
    assert (await lab.payment())["status"] == "processing"
    await lab.double.delete("/faults")
    await lab.deliver()
    assert (await lab.payment())["status"] == "settled"
    assert len((await lab.ledger())["moves"]) == 1


async def test_a_late_confirmation_of_a_declined_intent_captures_nothing(lab: PaymentLab) -> None:
    """Reported of intents: a stale call confirmed a declined one again, and the money moved after all."""
    await lab.placed(payment_method="pm_card_chargeDeclined")
    await lab.deliver()
    payment = await lab.payment()
    assert payment["status"] == "declined"
    late = RunKey(CLAIMED, job_id=uuid4(), step="confirm-intent", token=1)
    with pytest.raises(IntentStateConflict):
        await lab.provider.confirm_intent(payment["intent_id"], late)
    assert await lab.moved() == []
