"""Giving back a part of an invoice: how it is spread over the tax rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from uuid import uuid4

import pytest
from billing_lab import PLACED, SETTLED
from hypothesis import given
from hypothesis import strategies as st

from billing_service.domain.invoices import InvoiceLine, Refund, RefundExceedsInvoice
from billing_service.domain.invoices.credit import draft_credit_note, remaining, share
from billing_service.domain.invoices.models import GatheredOrder, InvoiceDraft, draft_invoice
from billing_service.domain.invoices.tax import TaxTotal, tax_totals

bought = st.lists(
    st.builds(
        InvoiceLine,
        sku=st.just("TEA-1"),
        quantity=st.integers(1, 5),
        unit_price_minor=st.integers(0, 30) | st.integers(0, 10**9),
        tax_rate_bp=st.sampled_from([0, 500, 825, 1_000, 2_000, 10_000]),
    ),
    min_size=1,
    max_size=8,
).filter(lambda lines: sum(line.gross_minor for line in lines) > 0)


def gross(totals: Sequence[TaxTotal]) -> int:
    return sum(total.gross_minor for total in totals)


@given(bought, st.data())
def test_a_refund_is_spread_in_proportion_and_to_the_minor_unit(lines: list[InvoiceLine], data: st.DataObject) -> None:
    invoiced = tax_totals(lines)
    amount_minor = data.draw(st.integers(1, gross(invoiced)))
    shares = {part.tax_rate_bp: part for part in share(amount_minor, remaining(invoiced, []))}
    assert gross([*shares.values()]) == amount_minor
    rounded_up, rounded_down = [Fraction(1)], [Fraction(0)]
    for total in invoiced:
        exact = Fraction(amount_minor * total.gross_minor, gross(invoiced))
        part = shares.get(total.tax_rate_bp)
        spread = (part.gross_minor if part else 0) - exact
        assert abs(spread) < 1
        (rounded_up if spread > 0 else rounded_down).append(exact % 1)
        if part is not None:
            exact_tax = Fraction(part.gross_minor * total.tax_minor, total.gross_minor)
            assert -Fraction(1, 2) < part.tax_minor - exact_tax <= Fraction(1, 2)
    assert min(rounded_up) >= max(rounded_down), "a smaller remainder was rounded up before a larger one"


@given(bought, st.data())
def test_refunds_bit_by_bit_take_nothing_twice_and_leave_nothing_behind(
    lines: list[InvoiceLine], data: st.DataObject
) -> None:
    invoiced = tax_totals(lines)
    credited: list[TaxTotal] = []
    for last in range(8):
        left = remaining(invoiced, credited)
        if not left:
            break
        amount_minor = gross(left) if last == 7 else data.draw(st.integers(1, gross(left)))
        parts = share(amount_minor, left)
        for part in parts:
            assert part.net_minor + part.tax_minor == part.gross_minor > 0
            assert min(part.net_minor, part.tax_minor) >= 0
        credited += parts
        assert all(min(total.net_minor, total.tax_minor) >= 0 for total in remaining(invoiced, credited))
    for total in invoiced:
        back = [part for part in credited if part.tax_rate_bp == total.tax_rate_bp]
        assert gross(back) == total.gross_minor
        assert sum(part.tax_minor for part in back) == total.tax_minor
        assert sum(part.net_minor for part in back) == total.net_minor


def test_an_invoice_that_is_given_back_unit_by_unit_leaves_no_tax_behind() -> None:
    invoiced = tax_totals([InvoiceLine(sku="A", quantity=1, unit_price_minor=101, tax_rate_bp=10_000)])
    credited: list[TaxTotal] = []
    while left := remaining(invoiced, credited):
        credited += share(1, left)
    assert (len(credited), sum(part.tax_minor for part in credited)) == (101, invoiced[0].tax_minor)


@given(bought)
def test_a_refund_of_everything_is_the_invoice(lines: list[InvoiceLine]) -> None:
    invoiced = tax_totals(lines)
    assert share(gross(invoiced), remaining(invoiced, [])) == [total for total in invoiced if total.gross_minor]


def test_of_equal_remainders_the_lower_rate_is_rounded_up() -> None:
    lines = [InvoiceLine(sku="A", quantity=1, unit_price_minor=1_000, tax_rate_bp=rate) for rate in (2_000, 500)]
    parts = share(333, remaining(tax_totals(lines), []))
    assert [(part.tax_rate_bp, part.gross_minor, part.tax_minor) for part in parts] == [
        (500, 167, 8),  # 167 of 1000, of which 48 are tax: 8.016
        (2_000, 166, 28),  # 166 of 1000, of which 167 are tax: 27.7
    ]


def invoice() -> InvoiceDraft:
    return draft_invoice(uuid4(), GatheredOrder(order_id=uuid4(), placed=PLACED, settled=SETTLED))


def refund(amount_minor: int, currency: str = "USD") -> Refund:
    return Refund(
        refund_id=uuid4(), amount_minor=amount_minor, currency=currency, refunded_at=datetime(2026, 3, 2, tzinfo=UTC)
    )


def test_more_than_is_left_and_another_currency_are_refused() -> None:
    order = invoice()
    first = draft_credit_note(uuid4(), order, refund(3_000), [])
    with pytest.raises(RefundExceedsInvoice) as refused:
        draft_credit_note(uuid4(), order, refund(251), first.taxes)
    assert refused.value.facts["left_minor"] == 250
    assert gross(draft_credit_note(uuid4(), order, refund(250), first.taxes).taxes) == 250
    with pytest.raises(RefundExceedsInvoice):
        draft_credit_note(uuid4(), order, refund(1, "EUR"), [])
    free = replace(order, taxes=tax_totals([replace(PLACED.lines[0], unit_price_minor=0)]))
    with pytest.raises(RefundExceedsInvoice):
        draft_credit_note(uuid4(), free, refund(1), [])
