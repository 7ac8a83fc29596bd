"""What the outside is shown of an invoice and a credit note."""

from __future__ import annotations

from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from service_platform.messages import Language

from .models import Invoice


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
