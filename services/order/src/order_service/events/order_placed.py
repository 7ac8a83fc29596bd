"""An order was placed."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from service_platform.event_bus import Event


class OrderPlacedLine(BaseModel):
    """One line. The price is of one piece, in minor units, tax included; the rate is in basis points."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    sku: str
    quantity: int
    unit_price_minor: int
    tax_rate_bp: int


class OrderPlaced(Event):
    """What a new order is: who bought what, and how it is to be paid. Amounts count minor units of `currency`."""

    event_name: ClassVar[Literal["order.placed"]] = "order.placed"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "order"
    key_field: ClassVar[str] = "order_id"

    order_id: UUID
    customer_id: str
    customer_email: str
    locale: Literal["en", "vi"]
    currency: str
    total_minor: int
    payment_method: str
    lines: list[OrderPlacedLine]
    placed_at: datetime
