"""What payment reads of `order.cancel_requested`."""

from __future__ import annotations

from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class OrderCancelRequested(Event):
    """An order is not wanted any more: whatever the reason, its money stays with the customer, or goes back."""

    event_name: ClassVar[Literal["order.cancel_requested"]] = "order.cancel_requested"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "order"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
