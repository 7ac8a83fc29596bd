"""order.placed, as billing reads it."""

from __future__ import annotations

from typing import ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from service_platform.event_bus import Event


class OrderPlacedLine(BaseModel):
    """One line. The price is of one piece, in minor units, tax included; the rate is in basis points."""

    model_config = ConfigDict(frozen=True)

    sku: str
    quantity: int
    unit_price_minor: int
    tax_rate_bp: int


class OrderPlaced(Event):
    """An order was placed: who bought what."""

    event_name: ClassVar[Literal["order.placed"]] = "order.placed"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "order"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    customer_id: str
    customer_email: str
    locale: str
    currency: str
    lines: list[OrderPlacedLine]
