"""The card provider's objects as the domain's values."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import stripe

from payment_service.domain.payments import (
    Intent,
    IntentStatus,
    NeedsReview,
    ProviderRefund,
    ProviderRefundStatus,
)

from .provider_errors import LONGEST_CODE, decline_code

PAYMENT_ID: Final = "payment_id"
REFUND_ID: Final = "refund_id"

_INTENT_STATUS: Final = {
    "requires_confirmation": IntentStatus.UNCONFIRMED,
    "requires_payment_method": IntentStatus.DECLINED,  # every intent of ours was created with a method
    "requires_action": IntentStatus.DECLINED,  # nobody is there to act: as good as declined, and closed like it
    "processing": IntentStatus.IN_PROGRESS,
    "succeeded": IntentStatus.SUCCEEDED,
    "canceled": IntentStatus.CANCELLED,
}

_REFUND_STATUS: Final = {
    "pending": ProviderRefundStatus.IN_PROGRESS,
    "requires_action": ProviderRefundStatus.IN_PROGRESS,
    "succeeded": ProviderRefundStatus.SUCCEEDED,
    "failed": ProviderRefundStatus.FAILED,
    "canceled": ProviderRefundStatus.FAILED,
}


def intent_of(answer: stripe.PaymentIntent) -> Intent:
    """Raises `NeedsReview` for a status that we do not know."""
    status = _INTENT_STATUS.get(answer.status)
    if status is None:
        raise NeedsReview(f"unknown_intent_status_{answer.status}"[:LONGEST_CODE])
    return Intent(
        id=answer.id,
        status=status,
        captured_minor=answer.amount_received,
        currency=answer.currency.upper(),
        decline_reason=decline_code(answer.last_payment_error),
        payment_id=_id_in(answer.metadata, PAYMENT_ID),
    )


def refund_of(answer: stripe.Refund) -> ProviderRefund:
    """Raises `NeedsReview` for a status that we do not know."""
    status = _REFUND_STATUS.get(answer.status or "")
    if status is None:
        raise NeedsReview(f"unknown_refund_status_{answer.status}"[:LONGEST_CODE])
    intent = answer.payment_intent
    return ProviderRefund(
        reference=answer.id,
        status=status,
        amount_minor=answer.amount,
        currency=answer.currency.upper(),
        intent_id=intent.id if isinstance(intent, stripe.PaymentIntent) else intent,
        refund_id=_id_in(answer.metadata, REFUND_ID),
    )


def _id_in(metadata: Any, name: str) -> UUID | None:
    """The id that we wrote there; None where somebody else wrote something else."""
    try:
        return UUID(metadata[name]) if metadata is not None and name in metadata else None
    except ValueError:
        return None
