"""payment.declined, as order reads it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class PaymentDeclined(Event):
    """The order's payment was declined; nothing was captured and nothing will be."""

    event_name: ClassVar[Literal["payment.declined"]] = "payment.declined"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "payment"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    payment_id: UUID
    reason: str
    declined_at: datetime
