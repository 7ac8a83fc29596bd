"""What billing knows of an order, and the invoice made from it: plain values, no storage, no calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service_platform.messages import LANGUAGES, Language

from .errors import OrderNotComplete, PaidAmountDiffers
from .tax import TaxTotal, tax_totals, tax_within


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceLine:
    """`quantity` pieces of `sku`. The price of one is in minor units and includes tax; the rate is in basis points."""

    sku: str
    quantity: int
    unit_price_minor: int
    tax_rate_bp: int

    @property
    def gross_minor(self) -> int:
        return self.quantity * self.unit_price_minor

    @property
    def tax_minor(self) -> int:
        return tax_within(self.gross_minor, self.tax_rate_bp)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedHalf:
    """What the order says: who bought what, and in which language to write to them."""

    customer_id: str
    customer_email: str
    language: Language
    currency: str
    lines: Sequence[InvoiceLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledHalf:
    """What the payment says: that so much was paid, when."""

    payment_id: UUID
    paid_minor: int
    paid_currency: str
    settled_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredOrder:
    """The halves of an order that have come so far, in whichever order they came."""

    order_id: UUID
    placed: PlacedHalf | None
    settled: SettledHalf | None

    @property
    def is_complete(self) -> bool:
        return self.placed is not None and self.settled is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceDraft:
    """All that an invoice says except its number and date, which it gets in the last moment."""

    id: UUID
    order_id: UUID
    placed: PlacedHalf
    settled: SettledHalf
    total_minor: int
    taxes: Sequence[TaxTotal]

    @property
    def currency(self) -> str:
        return self.placed.currency


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """An issued invoice. Amounts count minor units of `currency` (ISO 4217) and include tax.

    Nothing of it changes, except that it gets mailed.
    """

    id: UUID
    number: str
    order_id: UUID
    payment_id: UUID
    customer_id: str
    customer_email: str
    language: Language
    currency: str
    total_minor: int
    lines: Sequence[InvoiceLine]
    taxes: Sequence[TaxTotal]
    settled_at: datetime
    issued_at: datetime
    mailed_at: datetime | None


def draft_invoice(invoice_id: UUID, order: GatheredOrder) -> InvoiceDraft:
    """What the invoice of a complete order says.

    Raises `PaidAmountDiffers` when what was paid is not what the lines add up to, `OrderNotComplete` when a half is
    missing.
    """
    placed, settled = order.placed, order.settled
    if placed is None or settled is None:
        raise OrderNotComplete(order_id=str(order.order_id))
    total_minor = sum(line.gross_minor for line in placed.lines)
    if (settled.paid_minor, settled.paid_currency) != (total_minor, placed.currency):
        raise PaidAmountDiffers(
            order_id=str(order.order_id),
            paid_minor=settled.paid_minor,
            paid_currency=settled.paid_currency,
            total_minor=total_minor,
            currency=placed.currency,
        )
    return InvoiceDraft(
        id=invoice_id,
        order_id=order.order_id,
        placed=placed,
        settled=settled,
        total_minor=total_minor,
        taxes=tax_totals(placed.lines),
    )


def language_of(locale: str) -> Language:
    """The language to write in for a locale that an order names; English for one that billing does not know yet."""
    return next((language for language in LANGUAGES if language == locale), "en")
