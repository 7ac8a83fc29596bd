"""What the outside is shown of a payment."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from .models import Payment, PaymentStatus
from .refund_models import Refund, RefundReason, RefundStatus

PAYMENT_EXAMPLE: Final[dict[str, Any]] = {
    "id": "7d9e1c34-52b1-4a86-8f6e-91c0a3d5e7f2",
    "order_id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10",
    "status": "settled",
    "amount_minor": 4830,
    "currency": "EUR",
    "provider_reference": "pi_3QK1x2Fencepost0aB1cD2e",
    "reason": None,
    "refunded_minor": 1490,
    "refund_reserved_minor": 0,
    "refundable_minor": 3340,
    "created_at": "2026-11-30T09:15:00.402871Z",
    "concluded_at": "2026-11-30T09:15:01.734019Z",
}
REFUND_EXAMPLE: Final[dict[str, Any]] = {
    "id": "5f7a8b9c-1d2e-4f3a-8b4c-5d6e7f8a9b0c",
    "payment_id": PAYMENT_EXAMPLE["id"],
    "status": "done",
    "reason": "requested",
    "amount_minor": 1490,
    "currency": "EUR",
    "provider_reference": "re_3QK1x2Fencepost1fG2hI3j",
    "detail": None,
    "created_at": "2026-12-02T14:03:10.118342Z",
    "concluded_at": "2026-12-02T14:03:11.556201Z",
}


class PaymentView(BaseModel):
    """A payment, without its payment method. Amounts count minor units of `currency` (ISO 4217).

    `refunded_minor` went back, `refund_reserved_minor` is on its way or waits for a person, `refundable_minor` is left.
    """

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [PAYMENT_EXAMPLE]})

    id: UUID
    order_id: UUID
    status: PaymentStatus
    amount_minor: int
    currency: str
    provider_reference: str | None
    reason: str | None
    refunded_minor: int
    refund_reserved_minor: int
    refundable_minor: int
    created_at: datetime
    concluded_at: datetime | None

    @classmethod
    def of(cls, payment: Payment) -> Self:
        return cls(
            id=payment.id,
            order_id=payment.order_id,
            status=payment.status,
            amount_minor=payment.amount_minor,
            currency=payment.currency,
            provider_reference=payment.intent_id,
            reason=payment.reason,
            refunded_minor=payment.refunded_minor,
            refund_reserved_minor=payment.refund_reserved_minor,
            refundable_minor=payment.refundable_minor,
            created_at=payment.created_at,
            concluded_at=payment.concluded_at,
        )


class RefundView(BaseModel):
    """A refund. `amount_minor` counts minor units of `currency` (ISO 4217)."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [REFUND_EXAMPLE]})

    id: UUID
    payment_id: UUID
    status: RefundStatus
    reason: RefundReason
    amount_minor: int
    currency: str
    provider_reference: str | None
    detail: str | None
    created_at: datetime
    concluded_at: datetime | None

    @classmethod
    def of(cls, refund: Refund, currency: str) -> Self:
        return cls(
            id=refund.id,
            payment_id=refund.payment_id,
            status=refund.status,
            reason=refund.reason,
            amount_minor=refund.amount_minor,
            currency=currency,
            provider_reference=refund.provider_reference,
            detail=refund.detail,
            created_at=refund.created_at,
            concluded_at=refund.concluded_at,
        )
