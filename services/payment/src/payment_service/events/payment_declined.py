"""The money of an order will not come."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class PaymentDeclined(Event):
    """An order's payment was refused for good: nothing was captured and nothing can be. `reason` is a code."""

    event_name: ClassVar[Literal["payment.declined"]] = "payment.declined"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "payment"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    payment_id: UUID
    reason: str
    declined_at: datetime
