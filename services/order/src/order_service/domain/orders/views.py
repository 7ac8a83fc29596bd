"""What callers see of an order."""

from __future__ import annotations

from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from .models import CancelReason, Order, OrderStatus


class _View(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class OrderLineView(_View):
    """One line. The price is of one piece, in minor units, tax included; the rate is in basis points."""

    sku: str
    quantity: int
    unit_price_minor: int
    tax_rate_bp: int


class TimelineEntryView(_View):
    """Something that happened to the order, and when it happened."""

    at: datetime
    event: str = Field(examples=["order.placed"])
    detail: dict[str, str] = Field(description="What there is to know about it, by name; may be empty.")


class OrderView(_View):
    """An order with its story. Amounts are in minor units of the currency (ISO 4217), tax included."""

    id: UUID
    status: OrderStatus
    customer_id: str
    currency: str
    total_minor: int
    refunded_minor: int
    lines: list[OrderLineView]
    placed_at: datetime
    paid_at: datetime | None
    cancel_reason: CancelReason | None
    cancel_requested_at: datetime | None
    invoice_number: str | None
    credit_note_numbers: list[str]
    timeline: list[TimelineEntryView] = Field(description="In the order of the times that things occurred.")

    @classmethod
    def of(cls, order: Order) -> Self:
        return cls.model_validate(order)
