"""What a person may decide about what needs review: plain values, no storage, no calls.

A decision records what the provider's ledger shows; it never overrules it. Two more things bind it: what other services
were told stays told, and nothing is declared over that could still happen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from .models import Intent, IntentStatus, Payment, PaymentStatus
from .refund_models import ProviderRefund, ProviderRefundStatus, Refund, RefundStatus
from .refund_table import FAILED_AFTER_DONE, KEYS_FORGOTTEN_AFTER
from .review_errors import (
    CaptureNotShown,
    IntentStillOpen,
    MoneyStillHeld,
    NotUnderReview,
    OthersWereTold,
    RefundMayStillCome,
    RefundNotShown,
    RefundShown,
)

_LAST_CALL: Final = timedelta(minutes=15)
"""Far above the budget of a call and the difference between two clocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An intent as the ledger shows it, and what of it went back, in minor units."""

    intent: Intent
    given_back_minor: int

    @property
    def left_minor(self) -> int:
        """What we still have of it."""
        return self.intent.captured_minor - self.given_back_minor


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentLedger:
    """A payment as it was when the provider was asked, and what the provider said after that."""

    payment: Payment
    own: Held | None
    contested: Held | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundLedger:
    """A refund as it was when the provider was asked at `asked_at`, and what the provider said after that.

    `taken`: what it shows is another refund of ours.
    """

    refund: Refund
    payment: Payment
    asked_at: datetime
    found: ProviderRefund | None
    taken: bool


def check_payment(seen: PaymentLedger, *, settled: bool) -> None:
    """Raises what forbids to resolve the payment as settled, or as declined or cancelled."""
    payment = seen.payment
    if payment.status is not PaymentStatus.NEEDS_REVIEW:
        raise NotUnderReview(state=payment.status.value)
    if payment.concluded_as is not None and settled != (payment.concluded_as is PaymentStatus.SETTLED):
        raise OthersWereTold(told=payment.concluded_as.value)
    if seen.contested is not None and seen.contested.left_minor > 0:
        raise _still_held(seen.contested)
    if settled:
        if seen.own is None or not _is_its_capture(payment, seen.own.intent):
            raise _not_captured(payment, seen.own)
    elif seen.own is not None:
        if seen.own.left_minor > 0:
            raise _still_held(seen.own)
        if seen.own.intent.status not in {IntentStatus.SUCCEEDED, IntentStatus.CANCELLED}:
            raise IntentStillOpen(intent=seen.own.intent.id, intent_status=seen.own.intent.status.value)


def _is_its_capture(payment: Payment, intent: Intent) -> bool:
    return intent.status is IntentStatus.SUCCEEDED and (intent.captured_minor, intent.currency) == (
        payment.amount_minor,
        payment.currency,
    )


def _not_captured(payment: Payment, own: Held | None) -> CaptureNotShown:
    return CaptureNotShown(
        intent=own.intent.id if own is not None else "none",
        intent_status=own.intent.status.value if own is not None else "none",
        captured_minor=own.intent.captured_minor if own is not None else 0,
        amount_minor=payment.amount_minor,
    )


def _still_held(held: Held) -> MoneyStillHeld:
    return MoneyStillHeld(
        intent=held.intent.id, captured_minor=held.intent.captured_minor, given_back_minor=held.given_back_minor
    )


def check_refund(seen: RefundLedger, *, done: bool) -> None:
    """Raises what forbids to resolve the refund as done, or as failed."""
    refund, found = seen.refund, seen.found
    if refund.status is not RefundStatus.NEEDS_REVIEW:
        raise NotUnderReview(state=refund.status.value)
    if done:
        if found is None or seen.taken or not _is_it(seen, found):
            raise RefundNotShown(shown=_shown(found), amount_minor=refund.amount_minor)
        return
    if refund.detail == FAILED_AFTER_DONE:
        raise OthersWereTold(told=RefundStatus.DONE.value)
    if found is not None and found.status is not ProviderRefundStatus.FAILED:
        raise RefundShown(reference=found.reference, refund_status=found.status.value)
    if found is None and refund.run_key_at is not None:
        until = refund.run_key_at + KEYS_FORGOTTEN_AFTER + _LAST_CALL
        if seen.asked_at < until:
            raise RefundMayStillCome(until=until.isoformat(timespec="seconds"))


def _is_it(seen: RefundLedger, found: ProviderRefund) -> bool:
    return found.status is ProviderRefundStatus.SUCCEEDED and (
        (found.amount_minor, found.currency, found.intent_id)
        == (seen.refund.amount_minor, seen.payment.currency, seen.payment.intent_id)
    )


def _shown(found: ProviderRefund | None) -> str:
    return (
        "none" if found is None else f"{found.reference}: {found.amount_minor} {found.currency}, {found.status.value}"
    )
