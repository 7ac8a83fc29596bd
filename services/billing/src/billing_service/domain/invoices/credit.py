"""Giving back a part of an invoice: plain values, integers, no storage, no calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service_platform.messages import Language

from .errors import RefundExceedsInvoice
from .models import Invoice, InvoiceDraft
from .tax import TaxTotal


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """That `amount_minor` of an order's payment was given back, above zero, in minor units of `currency`."""

    refund_id: UUID
    amount_minor: int
    currency: str
    refunded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditNoteDraft:
    """All that a credit note says except its number and date, which it gets in the last moment."""

    id: UUID
    invoice_id: UUID
    refund: Refund
    taxes: Sequence[TaxTotal]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditNote:
    """An issued credit note for one refund of one invoice. Amounts count minor units of `currency` and include tax.

    Nothing of it changes, except that it gets mailed.
    """

    id: UUID
    number: str
    invoice_id: UUID
    invoice_number: str
    invoice_issued_at: datetime
    order_id: UUID
    refund_id: UUID
    customer_id: str
    customer_email: str
    language: Language
    currency: str
    total_minor: int
    taxes: Sequence[TaxTotal]
    refunded_at: datetime
    issued_at: datetime
    mailed_at: datetime | None


def draft_credit_note(
    note_id: UUID, invoice: Invoice | InvoiceDraft, refund: Refund, credited: Sequence[TaxTotal]
) -> CreditNoteDraft:
    """The credit note of `refund`, after those whose tax totals are `credited`.

    Raises `RefundExceedsInvoice` for more than is left of the invoice, and for another currency.
    """
    left = remaining(invoice.taxes, credited)
    left_minor = sum(total.gross_minor for total in left)
    if refund.currency != invoice.currency or refund.amount_minor > left_minor:
        raise RefundExceedsInvoice(
            order_id=str(invoice.order_id),
            amount_minor=refund.amount_minor,
            refund_currency=refund.currency,
            left_minor=left_minor,
            currency=invoice.currency,
        )
    return CreditNoteDraft(id=note_id, invoice_id=invoice.id, refund=refund, taxes=share(refund.amount_minor, left))


def remaining(invoiced: Sequence[TaxTotal], credited: Sequence[TaxTotal]) -> list[TaxTotal]:
    """What is left of each rate of an invoice, in its order, where anything is left."""
    left = []
    for total in invoiced:
        back = [part for part in credited if part.tax_rate_bp == total.tax_rate_bp]
        gross = total.gross_minor - sum(part.gross_minor for part in back)
        tax = total.tax_minor - sum(part.tax_minor for part in back)
        if gross > 0:
            left.append(
                TaxTotal(tax_rate_bp=total.tax_rate_bp, net_minor=gross - tax, tax_minor=tax, gross_minor=gross)
            )
    return left


def share(amount_minor: int, left: Sequence[TaxTotal]) -> list[TaxTotal]:
    """`amount_minor` spread over the rates in proportion to what is left of each; rates that get nothing are left out.

    By largest remainder, of equal ones the lower rate first, so each rate gets its exact share rounded up or down, and
    together they are the amount. The tax of a share is its part of the tax that is left, rounded half up. So whatever
    is given back bit by bit, no rate gets more than it had, and the last refund leaves neither gross nor tax behind.
    """
    left_minor = sum(total.gross_minor for total in left)
    exact = [divmod(amount_minor * total.gross_minor, left_minor) for total in left]
    missing = amount_minor - sum(whole for whole, _ in exact)
    rounded_up = sorted(range(len(left)), key=lambda rate: -exact[rate][1])[:missing]
    shares = []
    for rate, total in enumerate(left):
        gross = exact[rate][0] + (rate in rounded_up)
        if gross:
            tax = (2 * gross * total.tax_minor + total.gross_minor) // (2 * total.gross_minor)
            shares.append(
                TaxTotal(tax_rate_bp=total.tax_rate_bp, net_minor=gross - tax, tax_minor=tax, gross_minor=gross)
            )
    return shares
