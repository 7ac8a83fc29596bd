"""Refunds that a person decides about: by the provider's ledger, once, and told as any other end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from payment_lab import PaymentLab
from review_lab import audited, refund_by_hand, resolve_refund

from payment_service.domain.payments import (
    LedgerAway,
    LedgerDisagrees,
    NotUnderReview,
    OthersWereTold,
    RefundMayStillCome,
    RefundNotShown,
    RefundShown,
    ResolveRefund,
)

SETTLED, REFUNDED = "payment.settled", "payment.refunded"


async def unanswered(lab: PaymentLab, *, made: bool) -> dict[str, Any]:
    """A refund of 700 without an answer for a day needs review, and its job is dead; its payment."""
    payment = await lab.settled()
    await lab.refund(payment["id"], 700)
    await lab.fault(operation="refunds.create", outcome="drop", times=2, **({"point": "after"} if made else {}))
    await lab.deliver()
    await lab.kill_jobs()
    await set_aside(lab, "no_answer_for_a_day")
    return payment


async def set_aside(lab: PaymentLab, detail: str) -> None:
    async with lab.database.transaction() as tx:
        statement = "UPDATE refunds SET status = 'needs_review', concluded_at = NULL, detail = $1"
        await (await tx.driver()).execute(statement, detail)


async def test_what_the_ledger_shows_is_done_told_once_and_audited(lab: PaymentLab) -> None:
    await unanswered(lab, made=True)
    with pytest.raises(RefundShown):
        await resolve_refund(lab, "failed")
    row = await resolve_refund(lab, "done")
    assert (row.status, row.detail) == ("done", None)
    assert row.provider_reference is not None
    assert await lab.told() == [SETTLED, REFUNDED]
    with pytest.raises(NotUnderReview):
        await resolve_refund(lab, "done")
    assert await audited(lab) == [
        ("refunds resolve", "refused"),
        ("refunds resolve", "done"),
        ("refunds resolve", "refused"),
    ]
    await lab.reconcile()
    assert await lab.told() == [SETTLED, REFUNDED]
    assert (await lab.payment())["refunded_minor"] == 700


async def test_what_the_ledger_does_not_show_is_failed_once_no_call_can_come_any_more(lab: PaymentLab) -> None:
    payment = await unanswered(lab, made=False)
    with pytest.raises(RefundNotShown):
        await resolve_refund(lab, "done")
    with pytest.raises(RefundMayStillCome):
        await resolve_refund(lab, "failed")
    await lab.let_time_pass("25 hours")
    await resolve_refund(lab, "failed")
    (refund,) = await lab.refunds()
    assert (refund["status"], refund["detail"]) == ("failed", "decided_by_a_person")
    assert await lab.told() == [SETTLED]
    assert (await lab.refund(payment["id"])).amount_minor == 1999, "its amount is free again"


async def test_a_refund_that_a_person_made_at_the_provider_stands_for_it(lab: PaymentLab) -> None:
    payment = await unanswered(lab, made=False)
    reference = await refund_by_hand(lab, payment["intent_id"], 700)
    await resolve_refund(lab, "done", reference)
    (refund,) = await lab.refunds()
    assert (refund["status"], refund["provider_reference"]) == ("done", reference)
    assert await lab.told() == [SETTLED, REFUNDED]
    await lab.reconcile()
    assert len(await lab.refunds()) == 1, "it is known"


async def test_one_of_another_amount_another_refunds_or_an_unknown_one_does_not(lab: PaymentLab) -> None:
    payment = await unanswered(lab, made=False)
    other = await refund_by_hand(lab, payment["intent_id"], 100)
    with pytest.raises(RefundNotShown):
        await resolve_refund(lab, "done", other)
    with pytest.raises(LedgerDisagrees):
        await resolve_refund(lab, "done", "re_unknown")
    await lab.refund(payment["id"], 700)
    await lab.deliver()
    taken = (await lab.refunds())[1]
    assert taken["status"] == "done"
    with pytest.raises(RefundNotShown):
        await resolve_refund(lab, "done", taken["provider_reference"])
    assert (await lab.refunds())[0]["status"] == "needs_review"


async def test_one_that_came_back_after_it_was_done_can_only_be_done_again_and_is_not_told_again(
    lab: PaymentLab,
) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 700)
    await lab.deliver()
    await set_aside(lab, "failed_after_it_was_done")
    with pytest.raises(OthersWereTold):
        await resolve_refund(lab, "failed")
    reference = await refund_by_hand(lab, payment["intent_id"], 700)
    await resolve_refund(lab, "done", reference)
    assert (await lab.refunds())[0]["provider_reference"] == reference
    assert await lab.told() == [SETTLED, REFUNDED]


async def test_one_that_nobody_here_made_is_done_and_told(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await refund_by_hand(lab, payment["intent_id"], 300)
    await lab.reconcile()
    await resolve_refund(lab, "done")
    assert await lab.told() == [SETTLED, REFUNDED]
    assert (await lab.payment())["refunded_minor"] == 300


async def test_of_a_payment_that_others_know_as_declined_no_refund_is_told(lab: PaymentLab) -> None:
    payment = await lab.settled()
    async with lab.database.transaction() as tx:
        await (await tx.driver()).execute("UPDATE payments SET status = 'declined', reason = 'x'")
    await lab.reconcile()
    await refund_by_hand(lab, payment["intent_id"], 1999)
    await lab.reconcile()
    await resolve_refund(lab, "done")
    assert [refund["status"] for refund in await lab.refunds()] == ["done"]
    assert await lab.told() == [SETTLED]


async def test_of_two_people_at_once_and_a_reconcile_one_ends_it(lab: PaymentLab) -> None:
    await unanswered(lab, made=True)
    answers = await asyncio.gather(
        *(resolve_refund(lab, "done") for _ in range(3)), lab.reconcile(), return_exceptions=True
    )
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert {type(answer) for answer in refused} <= {NotUnderReview}
    assert [refund["status"] for refund in await lab.refunds()] == ["done"]
    assert await lab.told() == [SETTLED, REFUNDED]


async def test_a_refund_that_changed_since_it_was_looked_at_is_not_decided_by_that_look(lab: PaymentLab) -> None:
    await unanswered(lab, made=True)
    reviews = lab.services.reviews
    seen = await reviews.look_at_refund((await lab.refunds())[0]["id"], None)
    await set_aside(lab, "failed_after_it_was_done")
    with pytest.raises(NotUnderReview):
        async with lab.database.transaction() as tx:
            await reviews.resolve_refund(ResolveRefund(seen=seen, done=True), tx)
    assert (await lab.refunds())[0]["status"] == "needs_review"


async def test_without_the_ledgers_word_nothing_is_decided(lab: PaymentLab) -> None:
    await unanswered(lab, made=True)
    await lab.fault(operation="refunds.list", outcome="status", status=503, stored=False, times=2)
    with pytest.raises(LedgerAway):
        await resolve_refund(lab, "done")
    assert (await lab.refunds())[0]["status"] == "needs_review"
