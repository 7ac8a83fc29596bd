"""The examples that the API's document shows are what the service would say."""

from __future__ import annotations

from billing_service.domain.invoices import CreditNoteView, InvoiceLine, InvoiceView
from billing_service.domain.invoices.credit import remaining, share
from billing_service.domain.invoices.tax import tax_totals
from billing_service.domain.invoices.views import CREDIT_NOTE_EXAMPLE, INVOICE_EXAMPLE


def test_the_example_of_an_invoice_adds_up() -> None:
    invoice = InvoiceView.model_validate(INVOICE_EXAMPLE)
    assert invoice.model_dump(mode="json") == INVOICE_EXAMPLE
    lines = [
        InvoiceLine(
            sku=line.sku,
            quantity=line.quantity,
            unit_price_minor=line.unit_price_minor,
            tax_rate_bp=line.tax_rate_bp,
        )
        for line in invoice.lines
    ]
    assert [line.gross_minor for line in lines] == [line.gross_minor for line in invoice.lines]
    assert [line.tax_minor for line in lines] == [line.tax_minor for line in invoice.lines]
    assert [total.tax_minor for total in tax_totals(lines)] == [total.tax_minor for total in invoice.taxes]
    assert invoice.total_minor == sum(line.gross_minor for line in lines)


def test_the_example_of_a_credit_note_is_that_share_of_the_invoice() -> None:
    note = CreditNoteView.model_validate(CREDIT_NOTE_EXAMPLE)
    assert note.model_dump(mode="json") == CREDIT_NOTE_EXAMPLE
    invoiced = tax_totals([InvoiceLine(**_bought(line)) for line in INVOICE_EXAMPLE["lines"]])
    shares = share(note.total_minor, remaining(invoiced, []))
    assert [(part.tax_rate_bp, part.net_minor, part.tax_minor, part.gross_minor) for part in shares] == [
        (total.tax_rate_bp, total.net_minor, total.tax_minor, total.gross_minor) for total in note.taxes
    ]


def _bought(line: dict[str, int | str]) -> dict[str, int | str]:
    return {name: value for name, value in line.items() if name not in {"gross_minor", "tax_minor"}}
