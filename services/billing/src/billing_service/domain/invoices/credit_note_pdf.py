"""The credit note as a PDF: A4, in the customer's language, with the invoice that it corrects."""

from __future__ import annotations

from .credit import CreditNote
from .formats import format_day
from .messages import MESSAGES
from .sheet import Sheet


def render_credit_note(note: CreditNote, *, seller: str) -> bytes:
    """The same bytes for the same credit note."""
    sheet = Sheet(
        title=MESSAGES.text("pdf.credit_note.title", note.language),
        number=note.number,
        language=note.language,
        currency=note.currency,
        seller=seller,
    )
    invoice = sheet.text(
        "credit_note.of", number=note.invoice_number, date=format_day(note.invoice_issued_at, note.language)
    )
    facts = [
        ("issued", format_day(note.issued_at, note.language)),
        ("invoice", invoice),
        ("refunded", format_day(note.refunded_at, note.language)),
        ("order", str(note.order_id)),
    ]
    total = sheet.total(
        note.total_minor,
        name=sheet.text("credit_note.total"),
        said=sheet.text("credit_note.refunded"),
        note=sheet.text("credit_note.note", currency=note.currency),
    )
    head = sheet.head(facts, customer=note.customer_email)
    return sheet.pdf([head, *map(sheet.tax, note.taxes), total])
