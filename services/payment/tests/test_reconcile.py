"""The reconcile against the provider's ledger: what it finds, mends, or leaves to a person."""

from __future__ import annotations

from uuid import UUID, uuid4

from payment_lab import PaymentLab

from payment_service.domain.payments import IntentRequest, RefundRequest
from service_platform.jobs import RunKey
from service_platform.jobs.run import CLAIMED


def _key() -> RunKey:
    return RunKey(CLAIMED, job_id=uuid4(), step="by-hand", token=1)


async def _orphan(lab: PaymentLab, payment_id: UUID) -> str:
    """An intent such as a fenced-out run leaves behind."""
    request = IntentRequest(
        payment_id=payment_id,
        order_id=uuid4(),
        amount_minor=1999,
        currency="EUR",
        payment_method="pm_card_visa",
    )
    return (await lab.provider.create_intent(request, _key())).id


async def _executed(lab: PaymentLab, statement: str) -> None:
    async with lab.database.transaction() as tx:
        await (await tx.driver()).execute(statement)


async def test_where_both_agree_it_changes_nothing_and_checks_nothing(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 500)
    await lab.placed(payment_method="pm_card_chargeDeclined")
    await lab.deliver()
    before = await lab.rows("SELECT * FROM payments ORDER BY id"), await lab.told()
    await lab.reconcile()
    assert (await lab.rows("SELECT * FROM payments ORDER BY id"), await lab.told()) == before
    assert (
        await lab.rows("SELECT id FROM job WHERE kind IN ('payment.check-intent', 'payment.cancel-orphan-intent')")
        == []
    )


async def test_an_orphan_beside_a_stored_intent_is_cancelled(lab: PaymentLab) -> None:
    payment = await lab.settled()
    orphan = await _orphan(lab, payment["id"])
    await lab.reconcile()
    assert await lab.at_the_provider(orphan) == "canceled"
    assert await lab.moved() == [("capture", 1999)]
    assert (await lab.payment())["status"] == "settled"


async def test_an_orphan_that_a_run_may_be_about_to_store_is_left_alone(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.fault(operation="payment_intents.create", outcome="status", status=503, stored=False, times=2)
    await lab.deliver()
    payment = await lab.payment()
    assert (payment["status"], payment["intent_id"]) == ("processing", None)
    await lab.kill_jobs()
    orphan = await _orphan(lab, payment["id"])
    await lab.reconcile()
    assert await lab.at_the_provider(orphan) == "requires_confirmation"


async def test_an_intent_of_nobodys_payment_is_left_alone(lab: PaymentLab) -> None:
    stranger = await _orphan(lab, uuid4())
    await lab.reconcile()
    assert await lab.at_the_provider(stranger) == "requires_confirmation"


async def test_an_orphan_that_captured_puts_its_payment_under_review(lab: PaymentLab) -> None:
    order_id = await lab.placed()
    await lab.cancelled(order_id)
    payment = await lab.payment()
    await lab.provider.confirm_intent(await _orphan(lab, payment["id"]), _key())
    await lab.reconcile()
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("needs_review", "orphan_intent_captured")


async def test_a_capture_whose_job_is_gone_is_settled_from_the_ledger(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.fault(operation="payment_intents.confirm", outcome="drop", point="after", times=2)
    await lab.deliver()
    await lab.kill_jobs()
    await lab.reconcile()
    assert (await lab.payment())["status"] == "settled"
    assert await lab.told() == ["payment.settled"]


async def test_a_refund_whose_job_is_gone_is_done_from_the_ledger(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 500)
    await lab.fault(operation="refunds.create", outcome="drop", point="after", times=2)
    await lab.deliver()
    await lab.kill_jobs()
    await lab.reconcile()
    assert (await lab.refunds())[0]["status"] == "done"
    assert await lab.told() == ["payment.settled", "payment.refunded"]


async def test_a_refund_that_nobody_here_made_waits_for_a_person_and_counts(lab: PaymentLab) -> None:
    payment = await lab.settled()
    made = RefundRequest(refund_id=uuid4(), payment_id=payment["id"], intent_id=payment["intent_id"], amount_minor=300)
    await lab.provider.create_refund(made, _key())
    for _ in range(2):
        await lab.reconcile()
    (refund,) = await lab.refunds()
    assert (refund["status"], refund["reason"], refund["amount_minor"]) == ("needs_review", "made_at_provider", 300)
    assert (await lab.payment())["refund_reserved_minor"] == 300
    assert await lab.told() == ["payment.settled"]


async def test_a_payment_that_says_settled_where_the_provider_captured_nothing_needs_review(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.fault(operation="payment_intents.confirm", outcome="drop", times=2)
    await lab.deliver()
    await _executed(lab, "UPDATE payments SET status = 'settled', concluded_at = platform_now()")
    await lab.kill_jobs()
    await lab.reconcile()
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("needs_review", "not_captured_at_provider")
    await lab.reconcile()
    assert (await lab.payment())["status"] == "needs_review", "what was concluded once is a person's"


async def test_a_payment_that_says_declined_where_the_provider_captured_needs_review(lab: PaymentLab) -> None:
    await lab.settled()
    await _executed(lab, "UPDATE payments SET status = 'declined', reason = 'x'")
    await lab.reconcile()
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("needs_review", "captured_after_declined")


async def test_an_intent_that_the_provider_does_not_list_needs_review(lab: PaymentLab) -> None:
    await lab.settled()
    await lab.let_time_pass("1 hour")
    (await lab.double.post("/reset")).raise_for_status()
    await lab.reconcile()
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("needs_review", "resource_missing")


async def test_what_stays_open_too_long_needs_review_and_still_settles_by_a_final_answer(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.fault(operation="payment_intents.confirm", outcome="drop", point="after", times=2)
    await lab.deliver()
    await lab.kill_jobs()
    await lab.let_time_pass("49 hours")
    await lab.under_review("open_too_long")
    await lab.reconcile()
    assert (await lab.payment())["status"] == "settled"
    assert await lab.told() == ["payment.settled"]


async def test_what_is_open_for_two_days_without_an_intent_is_given_up(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.fault(operation="payment_intents.create", outcome="status", status=503, stored=False, times=1000)
    await lab.deliver()
    await lab.let_time_pass("49 hours")
    await lab.reconcile()
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("needs_review", "open_too_long")
