"""The answer to a cancelled order of which no money is left to give back."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class PaymentCancelled(Event):
    """An order was to be cancelled, and its payment holds no money and never will.

    Nothing was captured and nothing can be; or the order was free; or all of it had been refunded before. One an order
    at most, and the last word on its cancel. Where money has to go back, `payment.refunded` is the answer instead.
    """

    event_name: ClassVar[Literal["payment.cancelled"]] = "payment.cancelled"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "payment"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    payment_id: UUID
    cancelled_at: datetime
