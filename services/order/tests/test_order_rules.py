"""What an order may be, before anything is stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from order_service.domain.orders import OrderLine, OrderView, TotalTooLarge, UnknownCurrency, limits, total_of
from order_service.domain.orders.views import EXAMPLE


def line(quantity: int, unit_price_minor: int) -> OrderLine:
    return OrderLine(sku="TEA-1", quantity=quantity, unit_price_minor=unit_price_minor, tax_rate_bp=1_000)


lines = st.builds(
    line,
    quantity=st.integers(1, limits.MAX_QUANTITY),
    unit_price_minor=st.integers(0, limits.MAX_UNIT_PRICE_MINOR),
)


@given(st.lists(lines, min_size=1, max_size=5))
def test_a_total_is_the_exact_sum_of_its_lines_or_refused_as_too_large(ordered: list[OrderLine]) -> None:
    exact = sum(one.quantity * one.unit_price_minor for one in ordered)
    if exact > limits.MAX_TOTAL_MINOR:
        with pytest.raises(TotalTooLarge) as refused:
            total_of(ordered, "USD")
        assert refused.value.facts["total_minor"] == exact
    else:
        assert total_of(ordered, "USD") == exact


def test_the_largest_total_is_accepted_and_one_minor_unit_more_is_not() -> None:
    hundred_times_a_billion = [line(100, 10**9)]
    assert total_of(hundred_times_a_billion, "USD") == limits.MAX_TOTAL_MINOR
    with pytest.raises(TotalTooLarge):
        total_of([*hundred_times_a_billion, line(1, 1)], "USD")


def test_an_order_may_be_free() -> None:
    assert total_of([line(3, 0)], "USD") == 0


@pytest.mark.parametrize("currency", ["USD", "VND", "JPY", "KWD", "HUF", "IQD"])
def test_currencies_of_any_number_of_decimals_are_accepted(currency: str) -> None:
    assert total_of([line(2, 150)], currency) == 300


@pytest.mark.parametrize("currency", ["XAU", "XXX", "XTS", "ZZZ", "usd", "DEM"])
def test_metals_test_codes_and_currencies_that_are_no_more_are_refused(currency: str) -> None:
    with pytest.raises(UnknownCurrency):
        total_of([line(1, 1)], currency)


def test_the_example_that_the_apis_document_shows_adds_up() -> None:
    order = OrderView.model_validate(EXAMPLE)
    assert order.model_dump(mode="json") == EXAMPLE
    assert order.total_minor == sum(line.quantity * line.unit_price_minor for line in order.lines)
