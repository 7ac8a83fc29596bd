"""What payment reads of `order.placed`."""

from __future__ import annotations

from typing import ClassVar, Literal
from uuid import UUID

from service_platform.event_bus import Event


class OrderPlaced(Event):
    """An order wants to be paid: how much, and by which method."""

    event_name: ClassVar[Literal["order.placed"]] = "order.placed"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "order"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    currency: str
    total_minor: int
    payment_method: str
