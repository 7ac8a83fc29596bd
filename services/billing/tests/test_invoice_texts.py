"""What people read: amounts, dates and the document."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import pytest
from iso4217 import Currency
from reportlab.pdfbase import pdfmetrics

from billing_service.domain.invoices import LETTERS, InvoiceLine
from billing_service.domain.invoices.credit import CreditNote, remaining, share
from billing_service.domain.invoices.credit_note_pdf import render_credit_note
from billing_service.domain.invoices.fonts import BOLD, REGULAR, register_fonts
from billing_service.domain.invoices.formats import (
    format_amount,
    format_count,
    format_day,
    format_money,
    format_rate,
)
from billing_service.domain.invoices.invoice_pdf import render_invoice
from billing_service.domain.invoices.messages import MESSAGES
from billing_service.domain.invoices.models import Invoice
from billing_service.domain.invoices.tax import tax_totals
from service_platform.messages import LANGUAGES, Language

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def invoice(language: Language = "en", currency: str = "USD", lines: int = 2) -> Invoice:
    bought = [
        InvoiceLine(sku=f"SKU-{number}", quantity=number, unit_price_minor=1_999, tax_rate_bp=1_000)
        for number in range(1, lines + 1)
    ]
    return Invoice(
        id=uuid4(),
        number="INV-2026-000001",
        order_id=uuid4(),
        payment_id=uuid4(),
        customer_id="ann",
        customer_email="ann@example.com",
        language=language,
        currency=currency,
        total_minor=sum(line.gross_minor for line in bought),
        lines=bought,
        taxes=tax_totals(bought),
        settled_at=NOON,
        issued_at=NOON,
        mailed_at=None,
    )


def credit_note(of: Invoice, amount_minor: int) -> CreditNote:
    return CreditNote(
        id=uuid4(),
        number="CN-2026-000001",
        invoice_id=of.id,
        invoice_number=of.number,
        invoice_issued_at=of.issued_at,
        order_id=of.order_id,
        refund_id=uuid4(),
        customer_id=of.customer_id,
        customer_email=of.customer_email,
        language=of.language,
        currency=of.currency,
        total_minor=amount_minor,
        taxes=share(amount_minor, remaining(of.taxes, [])),
        refunded_at=NOON,
        issued_at=NOON,
        mailed_at=None,
    )


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b(?!s)", pdf))


@pytest.mark.parametrize(
    ("amount_minor", "currency", "english", "vietnamese"),
    [
        (123_450, "USD", "USD 1,234.50", "1.234,50 USD"),
        (1_234_567, "VND", "VND 1,234,567", "1.234.567 VND"),
        (1_234, "JPY", "JPY 1,234", "1.234 JPY"),
        (1_234_567, "KWD", "KWD 1,234.567", "1.234,567 KWD"),
        (12_345, "HUF", "HUF 123.45", "123,45 HUF"),
        (0, "USD", "USD 0.00", "0,00 USD"),
        (10**11, "USD", "USD 1,000,000,000.00", "1.000.000.000,00 USD"),
    ],
)
def test_an_amount_has_the_decimals_of_its_currency(
    amount_minor: int, currency: str, english: str, vietnamese: str
) -> None:
    assert format_money(amount_minor, currency, "en").replace("\N{NO-BREAK SPACE}", " ") == english
    assert format_money(amount_minor, currency, "vi").replace("\N{NO-BREAK SPACE}", " ") == vietnamese


def test_rates_counts_and_days_follow_the_language() -> None:
    assert [format_rate(rate, "en") for rate in (0, 825, 1_000)] == ["0%", "8.25%", "10%"]
    assert format_rate(825, "vi") == "8,25%"
    assert (format_count(10_000, "en"), format_count(10_000, "vi")) == ("10,000", "10.000")
    assert (format_day(NOON, "en"), format_day(NOON, "vi")) == ("November 29, 2026", "29 tháng 11, 2026")


def test_the_day_is_that_of_utc() -> None:
    in_hanoi = datetime(2027, 1, 1, 3, tzinfo=timezone(timedelta(hours=7)))
    assert format_day(in_hanoi, "en") == "December 31, 2026"


def test_the_invoices_letters_hold_every_text_amount_and_day_that_it_can_say() -> None:
    texts = [
        MESSAGES.text(key, language, **dict.fromkeys(_placeholders(key, language), ""))
        for key in MESSAGES.keys()  # noqa: SIM118 - a catalogue is no dict
        for language in LANGUAGES
    ]
    codes = [currency.code for currency in Currency if currency.exponent is not None]
    amounts = [format_amount(123_456_789, code, language) + code for code in codes for language in LANGUAGES]
    days = [format_day(NOON.replace(month=month, day=1), language) for month in range(1, 13) for language in LANGUAGES]
    assert set("".join([*texts, *amounts, *days])) - {"\n"} <= LETTERS


def _placeholders(key: str, language: Language) -> set[str]:
    values: dict[str, object] = {}
    while True:
        try:
            MESSAGES.text(key, language, **values)
        except KeyError as missing:
            values[missing.args[0]] = ""
        else:
            return set(values)


def test_the_fonts_draw_every_letter() -> None:
    register_fonts()
    for name in (REGULAR, BOLD):
        drawn = pdfmetrics.getFont(name).face.charToGlyph
        missing = {letter for letter in LETTERS if ord(letter) not in drawn}
        assert missing == set(), f"{name} cannot draw {sorted(missing)}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_invoice_is_one_page_in_both_weights_and_the_same_bytes_again(language: Language) -> None:
    one = invoice(language)
    pdf = render_invoice(one, seller="Fencepost")
    assert pdf.startswith(b"%PDF-")
    assert pages(pdf) == 1
    assert b"NotoSans-Regular" in pdf
    assert b"NotoSans-Bold" in pdf
    assert render_invoice(one, seller="Fencepost") == pdf
    assert len(pdf) < 20_000, "an invoice embeds the letters that it uses and no whole font"


def test_the_longest_invoice_flows_over_pages() -> None:
    longest = invoice(lines=100)
    wide = replace(longest.lines[0], sku="W" * 64, quantity=10_000, unit_price_minor=10**9)
    lines = [replace(wide, tax_rate_bp=rate) for rate in range(100)]
    pdf = render_invoice(replace(longest, lines=lines, taxes=tax_totals(lines)), seller="Fencepost")
    assert pages(pdf) > 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_credit_note_is_one_page_and_the_same_bytes_again(language: Language) -> None:
    note = credit_note(invoice(language), 1_500)
    pdf = render_credit_note(note, seller="Fencepost")
    assert pages(pdf) == 1
    assert b"NotoSans-Bold" in pdf
    assert render_credit_note(note, seller="Fencepost") == pdf
    assert len(pdf) < 20_000


def test_a_credit_note_of_a_hundred_rates_flows_over_pages() -> None:
    lines = [InvoiceLine(sku="A", quantity=1, unit_price_minor=10**9, tax_rate_bp=rate) for rate in range(100)]
    of = replace(invoice(), lines=lines, taxes=tax_totals(lines))
    assert pages(render_credit_note(credit_note(of, 10**11 - 1), seller="Fencepost")) > 1
