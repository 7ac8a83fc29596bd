"""An order is to be cancelled."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class OrderCancelRequested(Event):
    """Somebody wants an order cancelled; it comes once an order, after its `order.placed`.

    It only asks. Payment answers: cancelled or declined where no money moved, and where it did, by giving back all that
    is left of it.
    """

    event_name: ClassVar[Literal["order.cancel_requested"]] = "order.cancel_requested"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "order"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    reason: Literal["customer", "expired"]
    requested_at: datetime
