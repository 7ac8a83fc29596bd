"""What callers may send, bounded in every direction."""

from __future__ import annotations

from typing import Annotated

from email_validator import EmailNotValidError, validate_email
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from order_service.domain.orders import OrderLine, limits
from service_platform.messages import Language


def _deliverable(address: str) -> str:
    """The address in the one form that every mail server takes: ASCII, its domain in punycode if need be."""
    try:
        valid = validate_email(address, check_deliverability=False, allow_smtputf8=False)
    except EmailNotValidError as error:
        raise ValueError(str(error)) from error
    assert valid.ascii_email is not None  # without SMTPUTF8 every valid address has one
    return valid.ascii_email


class _Body(BaseModel):
    """Unknown members are refused, and numbers are JSON integers: 1.0 and "1" are neither."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OrderLineBody(_Body):
    """One line. The price is of one piece, in minor units of the currency, tax included."""

    sku: Annotated[str, Field(max_length=limits.MAX_SKU_LENGTH, pattern=limits.SKU_PATTERN, examples=["TEA-0100"])]
    quantity: Annotated[int, Field(ge=1, le=limits.MAX_QUANTITY, examples=[2])]
    unit_price_minor: Annotated[int, Field(ge=0, le=limits.MAX_UNIT_PRICE_MINOR, examples=[1250])]
    tax_rate_bp: Annotated[
        int, Field(ge=0, le=limits.MAX_TAX_RATE_BP, description="Basis points: 1000 is 10 %", examples=[1000])
    ]

    def line(self) -> OrderLine:
        return OrderLine(**self.model_dump())


class PlaceOrderBody(_Body):
    """A new order, in one currency (ISO 4217)."""

    lines: Annotated[list[OrderLineBody], Field(min_length=1, max_length=limits.MAX_LINES)]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$", examples=["USD"])]
    customer_email: Annotated[
        str,
        Field(
            min_length=3,
            max_length=limits.MAX_EMAIL_LENGTH,
            examples=["jane@example.com"],
            json_schema_extra={"format": "email"},
        ),
        AfterValidator(_deliverable),
    ]
    locale: Annotated[Language, Field(description="The language of the invoice and its mail")] = "en"
    payment_method: Annotated[
        str,
        Field(
            max_length=limits.MAX_PAYMENT_METHOD_LENGTH,
            pattern=limits.PAYMENT_METHOD_PATTERN,
            description="The card provider's name for it; never card data",
            examples=["pm_card_visa"],
        ),
    ]
