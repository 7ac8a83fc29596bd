"""What the outside is shown of an invoice and a credit note."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from service_platform.messages import Language

from .models import Invoice

_SHARED: Final[dict[str, Any]] = {
    "order_id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10",
    "customer_id": "customer-1",
    "language": "en",
    "currency": "EUR",
}
INVOICE_EXAMPLE: Final[dict[str, Any]] = _SHARED | {
    "id": "c2a45f9b-0d13-4a7e-b1c8-6e5d4f3a2b19",
    "number": "INV-2026-000042",
    "payment_id": "7d9e1c34-52b1-4a86-8f6e-91c0a3d5e7f2",
    "total_minor": 4830,
    "lines": [
        {
            "sku": "TEA-ASSAM-250",
            "quantity": 2,
            "unit_price_minor": 1490,
            "tax_rate_bp": 700,
            "gross_minor": 2980,
            "tax_minor": 195,
        },
        {
            "sku": "CUP-STONEWARE",
            "quantity": 1,
            "unit_price_minor": 1850,
            "tax_rate_bp": 1900,
            "gross_minor": 1850,
            "tax_minor": 295,
        },
    ],
    "taxes": [
        {"tax_rate_bp": 700, "net_minor": 2785, "tax_minor": 195, "gross_minor": 2980},
        {"tax_rate_bp": 1900, "net_minor": 1555, "tax_minor": 295, "gross_minor": 1850},
    ],
    "settled_at": "2026-11-30T09:15:01.734019Z",
    "issued_at": "2026-11-30T09:15:02.020817Z",
    "mailed_at": "2026-11-30T09:15:02.604411Z",
}
CREDIT_NOTE_EXAMPLE: Final[dict[str, Any]] = _SHARED | {
    "id": "9a8b7c6d-5e4f-4a3b-9c2d-1e0f9a8b7c6d",
    "number": "CN-2026-000007",
    "invoice_id": INVOICE_EXAMPLE["id"],
    "invoice_number": INVOICE_EXAMPLE["number"],
    "refund_id": "5f7a8b9c-1d2e-4f3a-8b4c-5d6e7f8a9b0c",
    "total_minor": 1490,
    "taxes": [
        {"tax_rate_bp": 700, "net_minor": 859, "tax_minor": 60, "gross_minor": 919},
        {"tax_rate_bp": 1900, "net_minor": 480, "tax_minor": 91, "gross_minor": 571},
    ],
    "refunded_at": "2026-12-02T14:03:11.556201Z",
    "issued_at": "2026-12-02T14:03:11.901744Z",
    "mailed_at": None,
}


class _View(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class InvoiceLineView(_View):
    """One line. Amounts are in minor units and include tax; the rate is in basis points."""

    sku: str
    quantity: int
    unit_price_minor: int
    tax_rate_bp: int
    gross_minor: int
    tax_minor: int


class TaxTotalView(_View):
    """What the lines of one rate come to, in minor units: net and tax add up to gross."""

    tax_rate_bp: int
    net_minor: int
    tax_minor: int
    gross_minor: int


class InvoiceView(_View):
    """An invoice. `total_minor` counts minor units of `currency` (ISO 4217) and includes tax."""

    model_config = ConfigDict(json_schema_extra={"examples": [INVOICE_EXAMPLE]})

    id: UUID
    number: str
    order_id: UUID
    payment_id: UUID
    customer_id: str
    language: Language
    currency: str
    total_minor: int
    lines: list[InvoiceLineView]
    taxes: list[TaxTotalView]
    settled_at: datetime
    issued_at: datetime
    mailed_at: datetime | None

    @classmethod
    def of(cls, invoice: Invoice) -> Self:
        return cls.model_validate(invoice)


class CreditNoteView(_View):
    """The credit note of one refund of an invoice. Amounts are positive, in minor units of `currency`, tax included."""

    model_config = ConfigDict(json_schema_extra={"examples": [CREDIT_NOTE_EXAMPLE]})

    id: UUID
    number: str
    invoice_id: UUID
    invoice_number: str
    order_id: UUID
    refund_id: UUID
    customer_id: str
    language: Language
    currency: str
    total_minor: int
    taxes: list[TaxTotalView]
    refunded_at: datetime
    issued_at: datetime
    mailed_at: datetime | None
