"""What a person may decide by what the provider's ledger shows; no stack, no I/O."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from payment_service.domain.payments import (
    CaptureNotShown,
    Intent,
    IntentStatus,
    IntentStillOpen,
    MoneyStillHeld,
    NotUnderReview,
    OthersWereTold,
    PaymentLedger,
    PaymentStatus,
    ProviderRefund,
    ProviderRefundStatus,
    RefundLedger,
    RefundMayStillCome,
    RefundNotShown,
    RefundReason,
    RefundShown,
    RefundStatus,
)
from payment_service.domain.payments.models import Payment
from payment_service.domain.payments.refund_models import Refund
from payment_service.domain.payments.refund_table import FAILED_AFTER_DONE
from payment_service.domain.payments.review_rules import Held, check_payment, check_refund

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
PAYMENT = Payment(
    id=UUID(int=1),
    order_id=UUID(int=2),
    status=PaymentStatus.NEEDS_REVIEW,
    amount_minor=1999,
    currency="EUR",
    payment_method="pm_card_visa",
    intent_id="pi_1",
    reason="open_too_long",
    cancel_requested_at=None,
    created_at=NOW,
    concluded_at=None,
    refund_reserved_minor=0,
    refunded_minor=0,
    under_review_since=NOW,
)
REFUND = Refund(
    id=UUID(int=3),
    payment_id=PAYMENT.id,
    amount_minor=700,
    reason=RefundReason.REQUESTED,
    status=RefundStatus.NEEDS_REVIEW,
    run_key="job:send-refund:1",
    run_key_at=NOW,
    provider_reference=None,
    detail="no_answer_for_a_day",
    created_at=NOW,
    concluded_at=None,
)
SHOWN = ProviderRefund(
    reference="re_1",
    status=ProviderRefundStatus.SUCCEEDED,
    amount_minor=700,
    currency="EUR",
    intent_id="pi_1",
    refund_id=REFUND.id,
)


def held(status: IntentStatus, captured: int = 0, back: int = 0, currency: str = "EUR") -> Held:
    intent = Intent(id="pi_1", status=status, captured_minor=captured, currency=currency, decline_reason=None)
    return Held(intent=intent, given_back_minor=back)


CAPTURED = held(IntentStatus.SUCCEEDED, 1999)
ALL_BACK = held(IntentStatus.SUCCEEDED, 1999, 1999)
CANCELLED = held(IntentStatus.CANCELLED)


def of_payment(own: Held | None, *, contested: Held | None = None, **payment: Any) -> PaymentLedger:
    return PaymentLedger(payment=replace(PAYMENT, **payment), own=own, contested=contested)


def was(status: PaymentStatus) -> dict[str, Any]:
    return {"concluded_as": status, "concluded_at": NOW}


@pytest.mark.parametrize(
    ("settled", "seen"),
    [
        (True, of_payment(CAPTURED)),
        (True, of_payment(CAPTURED, **was(PaymentStatus.SETTLED))),
        (True, of_payment(ALL_BACK)),
        (True, of_payment(CAPTURED, contested=ALL_BACK, **was(PaymentStatus.SETTLED))),
        (False, of_payment(None, intent_id=None)),
        (False, of_payment(CANCELLED)),
        (False, of_payment(ALL_BACK)),
        (False, of_payment(ALL_BACK, **was(PaymentStatus.DECLINED))),
        (False, of_payment(CANCELLED, contested=ALL_BACK, **was(PaymentStatus.CANCELLED))),
    ],
)
def test_a_payment_is_resolved_as_the_ledger_shows_it(settled: bool, seen: PaymentLedger) -> None:
    check_payment(seen, settled=settled)


@pytest.mark.parametrize(
    ("settled", "seen", "refusal"),
    [
        (True, of_payment(None, intent_id=None), CaptureNotShown),
        (True, of_payment(CANCELLED), CaptureNotShown),
        (True, of_payment(held(IntentStatus.IN_PROGRESS)), CaptureNotShown),
        (True, of_payment(held(IntentStatus.SUCCEEDED, 1998)), CaptureNotShown),
        (True, of_payment(held(IntentStatus.SUCCEEDED, 1999, currency="USD")), CaptureNotShown),
        (True, of_payment(CAPTURED, **was(PaymentStatus.DECLINED)), OthersWereTold),
        (True, of_payment(CAPTURED, **was(PaymentStatus.CANCELLED)), OthersWereTold),
        (True, of_payment(CAPTURED, contested=CAPTURED, **was(PaymentStatus.SETTLED)), MoneyStillHeld),
        (False, of_payment(CAPTURED), MoneyStillHeld),
        (False, of_payment(held(IntentStatus.SUCCEEDED, 1999, 1998)), MoneyStillHeld),
        (False, of_payment(held(IntentStatus.UNCONFIRMED)), IntentStillOpen),
        (False, of_payment(held(IntentStatus.DECLINED)), IntentStillOpen),
        (False, of_payment(held(IntentStatus.IN_PROGRESS)), IntentStillOpen),
        (False, of_payment(CANCELLED, **was(PaymentStatus.SETTLED)), OthersWereTold),
        (False, of_payment(CANCELLED, contested=CAPTURED, **was(PaymentStatus.CANCELLED)), MoneyStillHeld),
        (True, of_payment(CAPTURED, status=PaymentStatus.SETTLED), NotUnderReview),
        (False, of_payment(CANCELLED, status=PaymentStatus.CONFIRMING), NotUnderReview),
    ],
)
def test_a_payment_is_not_resolved_against_the_ledger_or_what_others_were_told(
    settled: bool, seen: PaymentLedger, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        check_payment(seen, settled=settled)


def of_refund(
    found: ProviderRefund | None, *, after: timedelta = timedelta(days=2), taken: bool = False, **refund: Any
) -> RefundLedger:
    return RefundLedger(
        refund=replace(REFUND, **refund), payment=PAYMENT, asked_at=NOW + after, found=found, taken=taken
    )


FAILED_THERE = replace(SHOWN, status=ProviderRefundStatus.FAILED)
PENDING = replace(SHOWN, status=ProviderRefundStatus.IN_PROGRESS)
NO_KEY = {"run_key": None, "run_key_at": None}


@pytest.mark.parametrize(
    ("done", "seen"),
    [
        (True, of_refund(SHOWN)),
        (True, of_refund(SHOWN, detail=FAILED_AFTER_DONE)),
        (False, of_refund(None)),
        (False, of_refund(None, after=timedelta(0), **NO_KEY)),
        (False, of_refund(FAILED_THERE, after=timedelta(0))),
    ],
)
def test_a_refund_is_resolved_as_the_ledger_shows_it(done: bool, seen: RefundLedger) -> None:
    check_refund(seen, done=done)


@pytest.mark.parametrize(
    ("done", "seen", "refusal"),
    [
        (True, of_refund(None), RefundNotShown),
        (True, of_refund(PENDING), RefundNotShown),
        (True, of_refund(FAILED_THERE), RefundNotShown),
        (True, of_refund(replace(SHOWN, amount_minor=701)), RefundNotShown),
        (True, of_refund(replace(SHOWN, currency="USD")), RefundNotShown),
        (True, of_refund(replace(SHOWN, intent_id="pi_2")), RefundNotShown),
        (True, of_refund(SHOWN, taken=True), RefundNotShown),
        (False, of_refund(SHOWN), RefundShown),
        (False, of_refund(PENDING), RefundShown),
        (False, of_refund(FAILED_THERE, detail=FAILED_AFTER_DONE), OthersWereTold),
        (False, of_refund(None, after=timedelta(hours=24, minutes=14)), RefundMayStillCome),
        (True, of_refund(SHOWN, status=RefundStatus.DONE), NotUnderReview),
        (False, of_refund(None, status=RefundStatus.RESERVED), NotUnderReview),
    ],
)
def test_a_refund_is_not_resolved_against_the_ledger_or_while_it_may_still_happen(
    done: bool, seen: RefundLedger, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        check_refund(seen, done=done)
