"""What `POST /orders` accepts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from order_service.api.bodies import PlaceOrderBody


def body(**changes: Any) -> dict[str, Any]:
    good = {
        "lines": [ordered()],
        "currency": "USD",
        "customer_email": "jane@example.com",
        "locale": "vi",
        "payment_method": "pm_card_visa",
    }
    return good | changes


def ordered(**changes: Any) -> dict[str, Any]:
    return {"sku": "TEA-0100", "quantity": 2, "unit_price_minor": 1250, "tax_rate_bp": 1000} | changes


def test_a_good_order_is_taken_as_it_is() -> None:
    accepted = PlaceOrderBody.model_validate(body())
    assert accepted.lines[0].line().total_minor == 2500
    assert accepted.locale == "vi"


def test_english_is_the_language_where_none_is_given() -> None:
    without = body()
    del without["locale"]
    assert PlaceOrderBody.model_validate(without).locale == "en"


def test_a_domain_outside_ascii_is_kept_in_punycode() -> None:
    assert PlaceOrderBody.model_validate(body(customer_email="jane@bücher.de")).customer_email == (
        "jane@xn--bcher-kva.de"
    )


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"lines": []}, id="no lines"),
        pytest.param({"lines": [ordered()] * 101}, id="more than 100 lines"),
        pytest.param({"lines": [ordered(quantity=0)]}, id="no piece"),
        pytest.param({"lines": [ordered(quantity=10_001)]}, id="too many pieces"),
        pytest.param({"lines": [ordered(quantity=1.0)]}, id="a quantity with a point"),
        pytest.param({"lines": [ordered(quantity=True)]}, id="a quantity that is true"),
        pytest.param({"lines": [ordered(quantity="1")]}, id="a quantity in quotes"),
        pytest.param({"lines": [ordered(unit_price_minor=-1)]}, id="a negative price"),
        pytest.param({"lines": [ordered(unit_price_minor=10**9 + 1)]}, id="too high a price"),
        pytest.param({"lines": [ordered(unit_price_minor=12.5)]}, id="half a minor unit"),
        pytest.param({"lines": [ordered(tax_rate_bp=10_001)]}, id="more tax than price"),
        pytest.param({"lines": [ordered(sku="")]}, id="no sku"),
        pytest.param({"lines": [ordered(sku="A" * 65)]}, id="too long a sku"),
        pytest.param({"lines": [ordered(sku="TEA\n1")]}, id="a line break in a sku"),
        pytest.param({"lines": [ordered(sku="TEA\n")]}, id="a line break at the end of a sku"),
        pytest.param({"lines": [ordered(sku="TRÀ-1")]}, id="a sku outside ascii"),
        pytest.param({"lines": [ordered(discount=1)]}, id="an unknown member of a line"),
        pytest.param({"currency": "usd"}, id="a currency in lower case"),
        pytest.param({"currency": "USD\n"}, id="a line break after the currency"),
        pytest.param({"customer_email": "jane"}, id="an address without a domain"),
        pytest.param({"customer_email": "Jane <jane@example.com>"}, id="an address with a name"),
        pytest.param({"customer_email": "jane@example.com\r\nBcc: all@example.com"}, id="a header in an address"),
        pytest.param({"customer_email": "jöhn@example.com"}, id="an address that needs SMTPUTF8"),
        pytest.param({"customer_email": f"{'a' * 250}@example.com"}, id="too long an address"),
        pytest.param({"locale": "fr"}, id="an unknown language"),
        pytest.param({"payment_method": ""}, id="no payment method"),
        pytest.param({"payment_method": "pm card"}, id="a space in the payment method"),
        pytest.param({"payment_method": "p" * 256}, id="too long a payment method"),
        pytest.param({"total_minor": 1}, id="an unknown member"),
    ],
)
def test_what_is_out_of_bounds_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PlaceOrderBody.model_validate(body(**changes))
