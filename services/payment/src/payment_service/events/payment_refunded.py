"""Money of an order went back."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class PaymentRefunded(Event):
    """A part of an order's payment, or all of it, went back to the customer. One event a refund.

    `amount_minor` is this refund's own amount, above zero; together they never exceed what `payment.settled` said, and
    a cancelled order has all of it back when the amounts add up to that. `reason` is a code: `requested` or
    `order_cancelled`. The provider's name for the refund is `provider_reference`.
    """

    event_name: ClassVar[Literal["payment.refunded"]] = "payment.refunded"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "payment"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    payment_id: UUID
    refund_id: UUID
    amount_minor: int
    currency: str
    reason: str
    refunded_at: datetime
    provider_reference: str
