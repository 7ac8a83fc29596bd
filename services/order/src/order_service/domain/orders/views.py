"""What callers see of an order."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from .models import CancelReason, Order, OrderStatus

EXAMPLE: Final[dict[str, Any]] = {
    "id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10",
    "status": "paid",
    "customer_id": "customer-1",
    "currency": "EUR",
    "total_minor": 4830,
    "refunded_minor": 1490,
    "lines": [
        {"sku": "TEA-ASSAM-250", "quantity": 2, "unit_price_minor": 1490, "tax_rate_bp": 700},
        {"sku": "CUP-STONEWARE", "quantity": 1, "unit_price_minor": 1850, "tax_rate_bp": 1900},
    ],
    "placed_at": "2026-11-30T09:15:00.123456Z",
    "paid_at": "2026-11-30T09:15:01.734019Z",
    "cancel_reason": None,
    "cancel_requested_at": None,
    "invoice_number": "INV-2026-000042",
    "credit_note_numbers": ["CN-2026-000007"],
    "timeline": [
        {"at": "2026-11-30T09:15:00.123456Z", "event": "order.placed", "detail": {}},
        {
            "at": "2026-11-30T09:15:01.734019Z",
            "event": "payment.settled",
            "detail": {"payment_id": "7d9e1c34-52b1-4a86-8f6e-91c0a3d5e7f2"},
        },
        {
            "at": "2026-11-30T09:15:02.020817Z",
            "event": "invoice.issued",
            "detail": {
                "invoice_id": "c2a45f9b-0d13-4a7e-b1c8-6e5d4f3a2b19",
                "invoice_number": "INV-2026-000042",
            },
        },
        {
            "at": "2026-12-02T14:03:11.556201Z",
            "event": "payment.refunded",
            "detail": {
                "refund_id": "5f7a8b9c-1d2e-4f3a-8b4c-5d6e7f8a9b0c",
                "amount_minor": "1490",
                "currency": "EUR",
            },
        },
        {
            "at": "2026-12-02T14:03:11.901744Z",
            "event": "credit_note.issued",
            "detail": {
                "credit_note_id": "9a8b7c6d-5e4f-4a3b-9c2d-1e0f9a8b7c6d",
                "credit_note_number": "CN-2026-000007",
                "refund_id": "5f7a8b9c-1d2e-4f3a-8b4c-5d6e7f8a9b0c",
            },
        },
    ],
}


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

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

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
