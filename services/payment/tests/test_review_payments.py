"""Payments that a person decides about: by the provider's ledger, once, and told as any other end."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from payment_lab import PaymentLab
from review_lab import audited, key_by_hand, refund_by_hand, resolve

from payment_service.domain.payments import (
    CaptureNotShown,
    IntentRequest,
    IntentStillOpen,
    LedgerAway,
    LedgerDisagrees,
    MoneyStillHeld,
    NotUnderReview,
    OthersWereTold,
    PaymentNotFound,
    ResolvePayment,
)
from world.waiting import eventually

CONFIRM = "payment_intents.confirm"


async def left_confirming(lab: PaymentLab, *, captured: bool) -> str:
    """A payment whose confirmation nobody heard of, with no job that ever will, needs review; its intent."""
    await lab.placed()
    await lab.fault(operation=CONFIRM, outcome="drop", times=2, **({"point": "after"} if captured else {}))
    await lab.deliver()
    await lab.kill_jobs()
    return str((await lab.under_review())["intent_id"])


async def test_what_the_ledger_shows_as_captured_is_settled_told_and_audited(lab: PaymentLab) -> None:
    await left_confirming(lab, captured=True)
    row = await resolve(lab, "settled")
    assert (row.status, row.reason) == ("settled", None)
    payment = await lab.payment()
    assert payment["status"] == "settled"
    assert payment["resolved_at"] is not None
    assert await lab.told() == ["payment.settled"]
    with pytest.raises(NotUnderReview):
        await resolve(lab, "settled")
    assert await lab.told() == ["payment.settled"]
    assert await audited(lab) == [("payments resolve", "done"), ("payments resolve", "refused")]
    await lab.reconcile()
    assert (await lab.payment())["status"] == "settled"


async def test_what_could_still_be_captured_is_neither_settled_nor_declined_until_it_is_cancelled(
    lab: PaymentLab,
) -> None:
    intent_id = await left_confirming(lab, captured=False)
    with pytest.raises(CaptureNotShown):
        await resolve(lab, "settled")
    with pytest.raises(IntentStillOpen) as refusal:
        await resolve(lab, "declined")
    says = f"Intent {intent_id} is unconfirmed. Cancel it at the provider, then call again."
    assert refusal.value.detail("en") == says
    assert (await lab.payment())["status"] == "needs_review"
    await lab.provider.cancel_intent(intent_id, key_by_hand())
    await resolve(lab, "declined")
    payment = await lab.payment()
    assert (payment["status"], payment["reason"]) == ("declined", "decided_by_a_person")
    assert await lab.told() == ["payment.declined"]


async def test_what_never_had_an_intent_is_declined_or_cancelled_and_no_later_run_makes_one(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.fault(operation="payment_intents.create", outcome="status", status=503, stored=False, times=2)
    await lab.deliver()
    await lab.under_review()
    await resolve(lab, "declined")
    await lab.let_time_pass()
    await lab.deliver()
    assert (await lab.payment())["status"] == "declined"
    assert await lab.moved() == []
    assert {job["status"] for job in await lab.rows("SELECT status FROM job")} == {"done"}


async def test_money_that_was_captured_has_to_go_back_before_a_payment_is_declined(lab: PaymentLab) -> None:
    intent_id = await left_confirming(lab, captured=True)
    with pytest.raises(MoneyStillHeld):
        await resolve(lab, "declined")
    await refund_by_hand(lab, intent_id, 1998)
    with pytest.raises(MoneyStillHeld) as refusal:
        await resolve(lab, "declined")
    assert refusal.value.facts["given_back_minor"] == 1998
    await refund_by_hand(lab, intent_id, 1)
    await resolve(lab, "declined")
    assert await lab.told() == ["payment.declined"]
    await lab.reconcile()
    await lab.reconcile()
    assert (await lab.payment())["status"] == "declined", "what a person saw is not flagged again"
    assert await lab.told() == ["payment.declined"]


async def test_a_cancel_that_was_recorded_is_answered_by_the_decision(lab: PaymentLab) -> None:
    await left_confirming(lab, captured=True)
    await lab.cancelled((await lab.payment())["order_id"])
    assert await lab.told() == []
    await resolve(lab, "settled")
    await lab.deliver()
    assert await lab.told() == ["payment.settled", "payment.refunded"]
    assert await lab.moved() == [("capture", 1999), ("refund", 1999)]


async def test_a_cancel_between_the_look_and_the_decision_makes_a_declined_payment_cancelled(lab: PaymentLab) -> None:
    intent_id = await left_confirming(lab, captured=False)
    await lab.provider.cancel_intent(intent_id, key_by_hand())
    payment, reviews = await lab.payment(), lab.services.reviews
    seen = await reviews.look_at_payment(payment["id"])
    await lab.cancelled(payment["order_id"])
    async with lab.database.transaction() as tx:
        view = await reviews.resolve_payment(ResolvePayment(seen=seen, settled=False), tx)
    assert view.status == "cancelled"
    assert await lab.told() == ["payment.cancelled"]


async def test_a_payment_that_changed_since_it_was_looked_at_is_not_decided_by_that_look(lab: PaymentLab) -> None:
    await left_confirming(lab, captured=True)
    reviews = lab.services.reviews
    seen = await reviews.look_at_payment((await lab.payment())["id"])
    await lab.reconcile()
    assert (await lab.payment())["status"] == "settled"
    with pytest.raises(NotUnderReview):
        async with lab.database.transaction() as tx:
            await reviews.resolve_payment(ResolvePayment(seen=seen, settled=True), tx)
    await lab.under_review("captured_amount_differs")
    with pytest.raises(NotUnderReview):
        async with lab.database.transaction() as tx:
            await reviews.resolve_payment(ResolvePayment(seen=seen, settled=True), tx)
    assert await lab.told() == ["payment.settled"]


async def test_a_look_at_an_earlier_review_does_not_decide_a_later_one_of_the_same_reason(lab: PaymentLab) -> None:
    await left_confirming(lab, captured=True)
    await lab.reconcile()
    await lab.under_review("captured_amount_differs")
    reviews = lab.services.reviews
    seen = await reviews.look_at_payment((await lab.payment())["id"])
    await resolve(lab, "settled")
    await lab.let_time_pass()
    await lab.under_review("captured_amount_differs")
    with pytest.raises(NotUnderReview):
        async with lab.database.transaction() as tx:
            await reviews.resolve_payment(ResolvePayment(seen=seen, settled=True), tx)
    assert (await lab.payment())["status"] == "needs_review"


async def test_of_two_people_at_once_one_decides(lab: PaymentLab) -> None:
    await left_confirming(lab, captured=True)
    answers = await asyncio.gather(*(resolve(lab, "settled") for _ in range(4)), return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert {type(answer) for answer in refused} == {NotUnderReview}
    assert len(refused) == 3
    assert await lab.told() == ["payment.settled"]
    assert sorted(await audited(lab)) == [("payments resolve", "done")] + [("payments resolve", "refused")] * 3


async def test_a_reconcile_at_the_same_time_and_a_person_end_it_once(lab: PaymentLab) -> None:
    await left_confirming(lab, captured=True)
    answers = await asyncio.gather(resolve(lab, "settled"), lab.reconcile(), return_exceptions=True)
    assert all(answer is None or not isinstance(answer, BaseException | None) or isinstance(answer, NotUnderReview)
               for answer in answers), answers  # fmt: skip
    assert (await lab.payment())["status"] == "settled"
    assert await lab.told() == ["payment.settled"]


async def test_a_run_that_is_in_its_call_meanwhile_changes_nothing_that_a_person_cannot_see(lab: PaymentLab) -> None:
    await lab.placed()
    await lab.fault(operation=CONFIRM, hold=True, times=1)
    running = asyncio.create_task(lab.deliver())

    async def held() -> bool:
        return bool((await lab.double.get("/held")).json())

    await eventually(held, what="the confirmation is under way")
    await lab.under_review()
    with pytest.raises(IntentStillOpen):
        await resolve(lab, "declined")
    (await lab.double.post("/held/release")).raise_for_status()
    await running
    assert (await lab.payment())["status"] == "needs_review", "its answer comes too late for the run"
    with pytest.raises(MoneyStillHeld):
        await resolve(lab, "declined")
    await resolve(lab, "settled")
    assert await lab.told() == ["payment.settled"]
    assert await lab.moved() == [("capture", 1999)]


async def test_one_that_others_know_as_settled_goes_back_to_that_and_is_not_told_again(lab: PaymentLab) -> None:
    await lab.settled()
    await lab.under_review("not_captured_at_provider")
    with pytest.raises(OthersWereTold):
        await resolve(lab, "declined")
    await resolve(lab, "settled")
    payment = await lab.payment()
    assert (payment["status"], payment["reason"], payment["concluded_as"]) == ("settled", None, None)
    assert await lab.told() == ["payment.settled"]


async def test_a_cancel_that_came_while_a_settled_payment_needed_review_gives_the_money_back(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.under_review("not_captured_at_provider")
    await lab.cancelled(payment["order_id"])
    await resolve(lab, "settled")
    await lab.deliver()
    assert await lab.told() == ["payment.settled", "payment.refunded"]
    await lab.under_review("not_captured_at_provider")
    await resolve(lab, "settled")
    assert await lab.told() == ["payment.settled", "payment.refunded"], "the cancel was answered before"


async def test_one_that_others_know_as_declined_stays_that_once_the_money_is_back(lab: PaymentLab) -> None:
    await lab.settled()
    async with lab.database.transaction() as tx:
        await (await tx.driver()).execute("UPDATE payments SET status = 'declined', reason = 'x'")
    await lab.reconcile()
    payment = await lab.payment()
    assert (payment["reason"], payment["concluded_as"]) == ("captured_after_declined", "declined")
    told = await lab.told()
    with pytest.raises(OthersWereTold):
        await resolve(lab, "settled")
    with pytest.raises(MoneyStillHeld):
        await resolve(lab, "declined")
    await refund_by_hand(lab, payment["intent_id"], 1999)
    await lab.reconcile()
    assert [refund["status"] for refund in await lab.refunds()] == ["needs_review"]
    await resolve(lab, "declined")
    await lab.reconcile()
    assert (await lab.payment())["status"] == "declined"
    assert await lab.told() == told


async def test_an_orphan_that_captured_has_to_be_given_back_and_is_not_flagged_again(lab: PaymentLab) -> None:
    order_id = await lab.placed()
    await lab.cancelled(order_id)
    payment = await lab.payment()
    request = IntentRequest(
        payment_id=payment["id"], order_id=order_id, amount_minor=1999, currency="EUR", payment_method="pm_card_visa"
    )
    orphan = (await lab.provider.create_intent(request, key_by_hand())).id
    await lab.provider.confirm_intent(orphan, key_by_hand())
    await lab.reconcile()
    assert (await lab.payment())["contested_intent"] == orphan
    with pytest.raises(MoneyStillHeld):
        await resolve(lab, "declined")
    await refund_by_hand(lab, orphan, 1999)
    assert (await resolve(lab, "declined")).status == "cancelled"
    await lab.reconcile()
    assert (await lab.payment())["status"] == "cancelled"
    assert await lab.told() == ["payment.cancelled"]


async def test_without_the_ledgers_word_nothing_is_decided(lab: PaymentLab) -> None:
    await left_confirming(lab, captured=True)
    await lab.fault(operation="payment_intents.retrieve", outcome="status", status=503, stored=False, times=2)
    with pytest.raises(LedgerAway):
        await resolve(lab, "settled")
    (await lab.double.post("/reset")).raise_for_status()
    with pytest.raises(LedgerDisagrees) as refusal:
        await resolve(lab, "settled")
    assert refusal.value.facts["code"] == "resource_missing"
    assert (await lab.payment())["status"] == "needs_review"
    with pytest.raises(PaymentNotFound):
        await resolve(lab, "settled", uuid4())
    assert {outcome for _, outcome in await audited(lab)} == {"refused"}
