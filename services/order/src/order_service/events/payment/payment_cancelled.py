"""payment.cancelled, as order reads it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class PaymentCancelled(Event):
    """The answer to an order's cancel: its payment holds no money and never will."""

    event_name: ClassVar[Literal["payment.cancelled"]] = "payment.cancelled"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "payment"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    payment_id: UUID
    cancelled_at: datetime
