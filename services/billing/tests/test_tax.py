"""Taking the tax out of gross prices."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing_service.domain.invoices import InvoiceLine
from billing_service.domain.invoices.tax import tax_totals, tax_within

gross = st.integers(0, 10**13)
rates = st.integers(0, 10_000)
lines = st.builds(
    InvoiceLine,
    sku=st.just("TEA-1"),
    quantity=st.integers(1, 10_000),
    unit_price_minor=st.integers(0, 10**9),
    tax_rate_bp=st.sampled_from([0, 500, 825, 1_000, 2_000]) | rates,
)


@pytest.mark.parametrize(
    ("gross_minor", "rate_bp", "tax_minor"),
    [
        (11_000, 1_000, 1_000),
        (1_000, 1_000, 91),  # 90.909…
        (100, 0, 0),
        (0, 2_000, 0),
        (3, 10_000, 2),  # exactly one and a half: half up
        (1, 10_000, 1),  # exactly one half
        (6, 2_000, 1),
        (105, 500, 5),
    ],
)
def test_tax_is_rounded_half_up_to_a_minor_unit(gross_minor: int, rate_bp: int, tax_minor: int) -> None:
    assert tax_within(gross_minor, rate_bp) == tax_minor


@given(gross, rates)
def test_tax_is_the_whole_number_nearest_to_the_exact_tax_and_a_half_goes_up(gross_minor: int, rate_bp: int) -> None:
    exact = Fraction(gross_minor * rate_bp, 10_000 + rate_bp)
    tax = tax_within(gross_minor, rate_bp)
    assert -Fraction(1, 2) < tax - exact <= Fraction(1, 2)
    assert 0 <= tax <= gross_minor


@given(st.lists(lines, min_size=1, max_size=20))
def test_net_and_tax_add_up_to_gross_at_every_rate_and_over_all(bought: list[InvoiceLine]) -> None:
    totals = tax_totals(bought)
    for total in totals:
        assert total.net_minor + total.tax_minor == total.gross_minor
        assert total.net_minor >= 0
    assert sum(total.gross_minor for total in totals) == sum(line.gross_minor for line in bought)
    assert sum(total.tax_minor for total in totals) == sum(line.tax_minor for line in bought)
    assert [total.tax_rate_bp for total in totals] == sorted({line.tax_rate_bp for line in bought})
