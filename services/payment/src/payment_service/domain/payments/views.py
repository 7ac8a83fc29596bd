"""What the outside is shown of a payment."""

from __future__ import annotations

from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from .models import Payment, PaymentStatus


class PaymentView(BaseModel):
    """A payment, without its payment method. `amount_minor` counts minor units of `currency` (ISO 4217)."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    order_id: UUID
    status: PaymentStatus
    amount_minor: int
    currency: str
    provider_reference: str | None
    reason: str | None
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
            created_at=payment.created_at,
            concluded_at=payment.concluded_at,
        )
