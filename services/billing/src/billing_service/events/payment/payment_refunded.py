"""payment.refunded, as billing reads it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class PaymentRefunded(Event):
    """So much of an order's payment was given back, in minor units of `currency`; one event a refund."""

    event_name: ClassVar[Literal["payment.refunded"]] = "payment.refunded"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "payment"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    refund_id: UUID
    amount_minor: int
    currency: str
    refunded_at: datetime
