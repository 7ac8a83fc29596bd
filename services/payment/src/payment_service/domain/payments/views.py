"""What the outside is shown of a payment."""

from __future__ import annotations

from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from .models import Payment, PaymentStatus
from .refund_models import Refund, RefundReason, RefundStatus


class PaymentView(BaseModel):
    """A payment, without its payment method. Amounts count minor units of `currency` (ISO 4217).

    `refunded_minor` went back, `refund_reserved_minor` is on its way or waits for a person, `refundable_minor` is left.
    """

    model_config = ConfigDict(frozen=True)

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

    model_config = ConfigDict(frozen=True)

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
