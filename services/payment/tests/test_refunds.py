"""Refunds on a real database, through the real SDK, judged by the provider's ledger."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import asyncpg
import pytest
from payment_lab import PaymentLab
from sqlalchemy.exc import IntegrityError

from payment_service.domain.payments import (
    PaymentNotFound,
    PaymentNotSettled,
    ProviderRefund,
    ProviderRefundStatus,
    RefundExceedsCapture,
    RefundRequest,
)


async def test_a_refund_moves_its_amount_once_and_is_told_once(lab: PaymentLab) -> None:
    payment = await lab.settled()
    view = await lab.refund(payment["id"], 700)
    assert (view.status, view.amount_minor, view.currency) == ("reserved", 700, "EUR")
    await lab.deliver()
    (refund,) = await lab.refunds()
    assert refund["status"] == "done"
    assert await lab.moved() == [("capture", 1999), ("refund", 700)]
    assert await lab.told() == ["payment.settled", "payment.refunded"]
    payment = await lab.payment()
    assert (payment["refunded_minor"], payment["refund_reserved_minor"]) == (700, 0)


async def test_without_an_amount_all_that_is_left_goes_back(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 700)
    assert (await lab.refund(payment["id"])).amount_minor == 1299
    await lab.deliver()
    assert sorted(await lab.moved()) == [("capture", 1999), ("refund", 700), ("refund", 1299)]


async def test_refunds_at_the_same_instant_never_exceed_what_was_captured(lab: PaymentLab) -> None:
    payment = await lab.settled(total_minor=1000)
    answers = await asyncio.gather(*(lab.refund(payment["id"], 300) for _ in range(8)), return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert len(answers) - len(refused) == 3
    assert {type(answer) for answer in refused} == {RefundExceedsCapture}
    await lab.deliver()
    assert await lab.moved() == [("capture", 1000)] + [("refund", 300)] * 3


async def test_the_database_itself_holds_the_sum_whoever_writes_a_refund(lab: PaymentLab) -> None:
    payment = await lab.settled(total_minor=1000)
    await lab.refund(payment["id"], 600)
    with pytest.raises(IntegrityError, match="payments_refunds_within_capture"):
        await _write(lab, payment["id"], 401)
    await _write(lab, payment["id"], 400)
    assert (await lab.payment())["refund_reserved_minor"] == 1000


async def test_the_database_itself_refuses_to_give_back_what_was_not_captured(lab: PaymentLab) -> None:
    await lab.placed()
    payment = await lab.payment()
    with pytest.raises(IntegrityError, match="payments_only_captured_money_goes_back"):
        await _write(lab, payment["id"], 1)


async def test_a_refund_keeps_its_amount_and_its_payment(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 600)
    with pytest.raises(asyncpg.RaiseError, match="keeps its payment and its amount"):
        async with lab.database.transaction() as tx:
            await (await tx.driver()).execute("UPDATE refunds SET amount_minor = 1")


async def test_what_is_not_captured_cannot_be_refunded(lab: PaymentLab) -> None:
    await lab.placed()
    with pytest.raises(PaymentNotSettled):
        await lab.refund((await lab.payment())["id"], 1)
    with pytest.raises(PaymentNotFound):
        await lab.refund(uuid4(), 1)


async def test_of_a_free_order_nothing_can_be_refunded(lab: PaymentLab) -> None:
    await lab.placed(total_minor=0)
    with pytest.raises(RefundExceedsCapture):
        await lab.refund((await lab.payment())["id"])


@pytest.mark.parametrize("point", ["before", "after"])
async def test_after_a_take_over_the_stored_key_is_sent_again_and_the_money_goes_back_once(
    lab: PaymentLab, point: str
) -> None:
    """sub2api 5187, medusa 16681: sent again under a new key, a refund was paid twice."""
    payment = await lab.settled()
    await lab.refund(payment["id"], 700)
    await lab.fault(operation="refunds.create", outcome="drop", point=point, times=2)
    await lab.deliver()
    assert (await lab.refunds())[0]["status"] == "reserved"
    await lab.let_time_pass("1 hour")
    await lab.deliver()
    assert await lab.moved() == [("capture", 1999), ("refund", 700)]
    assert await lab.told() == ["payment.settled", "payment.refunded"]
    keys = await _refund_keys(lab)
    assert len(keys) > 1
    assert len(set(keys)) == 1, keys


@pytest.mark.parametrize("point", ["before", "after"])
async def test_an_error_that_the_provider_keeps_frees_the_refund_for_another_key_only_if_no_list_shows_it(
    lab: PaymentLab, point: str
) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 700)
    await lab.fault(operation="refunds.create", outcome="status", status=500, point=point)
    for _ in range(4):
        await lab.deliver()
        await lab.let_time_pass("1 hour")
    assert (await lab.refunds())[0]["status"] == "done"
    assert await lab.moved() == [("capture", 1999), ("refund", 700)]
    keys = await _refund_keys(lab)
    assert keys[0] == keys[1], "the first failure says nothing: the same key again, until its failure is a replay"
    assert len(set(keys)) == (2 if point == "before" else 1), keys


async def test_an_error_that_passes_is_tried_again_under_another_key_once_the_provider_keeps_it(
    lab: PaymentLab,
) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 700)
    await lab.fault(
        operation="refunds.create",
        outcome="status",
        status=400,
        type="invalid_request_error",
        code="balance_insufficient",
    )
    for _ in range(4):
        await lab.deliver()
        await lab.let_time_pass("1 hour")
    assert await lab.moved() == [("capture", 1999), ("refund", 700)]


async def test_what_the_provider_refuses_for_good_waits_for_a_person_and_stays_reserved(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 700)
    await lab.fault(
        operation="refunds.create", outcome="status", status=400, type="invalid_request_error", code="charge_disputed"
    )
    await lab.deliver()
    (refund,) = await lab.refunds()
    assert (refund["status"], refund["detail"]) == ("needs_review", "charge_disputed")
    assert (await lab.payment())["refund_reserved_minor"] == 700
    assert await lab.told() == ["payment.settled"]


@pytest.mark.parametrize(
    ("cancelled", "status", "reserved_minor"), [(False, "failed", 0), (True, "needs_review", 1999)], ids=str
)
async def test_a_refund_that_the_provider_fails_is_free_again_or_a_persons_where_the_order_is_cancelled(
    lab: PaymentLab, monkeypatch: pytest.MonkeyPatch, cancelled: bool, status: str, reserved_minor: int
) -> None:
    async def failing(request: RefundRequest, _: object) -> ProviderRefund:
        return ProviderRefund(
            reference="re_failed",
            status=ProviderRefundStatus.FAILED,
            amount_minor=request.amount_minor,
            currency="EUR",
            intent_id=request.intent_id,
            refund_id=request.refund_id,
        )

    payment = await lab.settled()
    monkeypatch.setattr(lab.provider, "create_refund", failing)
    if cancelled:
        await lab.cancelled(payment["order_id"])
    else:
        await lab.refund(payment["id"])
    await lab.deliver()
    (refund,) = await lab.refunds()
    assert (refund["status"], refund["detail"]) == (status, "failed_at_provider")
    assert (await lab.payment())["refund_reserved_minor"] == reserved_minor
    assert await lab.told() == ["payment.settled"]


async def test_a_day_of_silence_needs_review_and_the_forgotten_key_is_not_sent_again(lab: PaymentLab) -> None:
    payment = await lab.settled()
    await lab.refund(payment["id"], 700)
    await lab.fault(operation="refunds.create", outcome="drop", point="after", times=2)
    await lab.deliver()
    await lab.let_time_pass("24 hours")
    await lab.deliver()
    (refund,) = await lab.refunds()
    assert (refund["status"], refund["detail"]) == ("needs_review", "no_answer_for_a_day")
    assert await lab.moved() == [("capture", 1999), ("refund", 700)], "a second call would have paid twice"
    await lab.reconcile()
    assert (await lab.refunds())[0]["status"] == "done", "the provider's list has it"
    assert await lab.told() == ["payment.settled", "payment.refunded"]


async def _refund_keys(lab: PaymentLab) -> list[str]:
    calls = (await lab.ledger())["calls"]
    return [call["idempotency_key"] for call in calls if call["operation"] == "refunds.create"]


async def _write(lab: PaymentLab, payment_id: object, amount_minor: int) -> None:
    async with lab.database.transaction() as tx:
        connection = await tx.session.connection()
        await connection.exec_driver_sql(
            "INSERT INTO refunds (id, payment_id, amount_minor, reason, status)"
            " VALUES ($1, $2, $3, 'requested', 'reserved')",
            (uuid4(), payment_id, amount_minor),
        )
