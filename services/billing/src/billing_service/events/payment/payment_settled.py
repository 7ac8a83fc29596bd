"""payment.settled, as billing reads it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class PaymentSettled(Event):
    """An order's payment settled: how much, when."""

    event_name: ClassVar[Literal["payment.settled"]] = "payment.settled"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "payment"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    payment_id: UUID
    amount_minor: int
    currency: str
    settled_at: datetime
