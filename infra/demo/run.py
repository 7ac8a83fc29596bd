"""One run of the replay: how its orders are named, so that public records alone tell them from every other order."""

import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from demo.purchases import Purchase

CURRENCY = "USD"
# Gross prices, one rate for all: the log knows no taxes, and the cents of the purchase must come out unchanged.
TAX_RATE_BP = 1_000
PAYMENT_METHOD = "pm_card_visa"

_RUN_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_SKU = re.compile(r"CDNOW-(\d{5})-[12]")


def new_run_id() -> str:
    """A fresh run id: when it started, and a random part against two starts in one second."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


@dataclass(frozen=True, slots=True)
class Run:
    """A run is one playing of the file. The same id again means the same orders: every key and body is the same.

    Raises `ValueError` for an id that could not stand in a mail address.
    """

    id: str = field(default_factory=new_run_id)

    def __post_init__(self) -> None:
        if not _RUN_ID.fullmatch(self.id):
            raise ValueError(f"run id {self.id!r}: up to 40 of a-z, 0-9 and '-', and no '-' in front")

    def customer_id(self, purchase: Purchase) -> str:
        """The token's subject; its prefix is what marks an order as this run's."""
        return f"{self._prefix}{purchase.customer}"

    def customer_email(self, purchase: Purchase) -> str:
        """An address of the reserved domain example.com, one a customer and run."""
        return self.address_of(self.customer_id(purchase))

    def address_of(self, customer_id: str) -> str:
        """The mail address of one of this run's customers."""
        return f"{customer_id}@example.com"

    def owns_customer(self, customer_id: str) -> bool:
        """Whether an order of this customer belongs to this run."""
        return customer_id.startswith(self._prefix)

    def owns_address(self, address: str) -> bool:
        """Whether a mail to this address belongs to this run."""
        return self.owns_customer(address)

    def idempotency_key(self, purchase: Purchase) -> str:
        """One key a purchase and run, however often the request is sent."""
        return f"replay-{self.id}-{purchase.line:05d}"

    def order_body(self, purchase: Purchase) -> dict[str, Any]:
        """The body of `POST /orders` whose lines add up to exactly the purchase's cents."""
        return {
            "currency": CURRENCY,
            "customer_email": self.customer_email(purchase),
            "locale": "en",
            "payment_method": PAYMENT_METHOD,
            "lines": order_lines(purchase),
        }

    @property
    def _prefix(self) -> str:
        # No run id holds a dot, so run "a" never owns the orders of run "a-b".
        return f"cdnow.{self.id}."


def order_lines(purchase: Purchase) -> list[dict[str, Any]]:
    """All CDs but the last at the even price, the last one at what then remains: so two lines at most."""
    price, remainder = divmod(purchase.cents, purchase.cds)
    if remainder == 0:
        return [_line(purchase, 1, purchase.cds, price)]
    return [_line(purchase, 1, purchase.cds - 1, price), _line(purchase, 2, 1, price + remainder)]


def purchase_line_of(sku: str) -> int | None:
    """The line of the file that this sku was made from; None for a sku that is not the replay's."""
    match = _SKU.fullmatch(sku)
    return int(match[1]) if match else None


def _line(purchase: Purchase, number: int, quantity: int, unit_price_minor: int) -> dict[str, Any]:
    return {
        "sku": f"CDNOW-{purchase.line:05d}-{number}",
        "quantity": quantity,
        "unit_price_minor": unit_price_minor,
        "tax_rate_bp": TAX_RATE_BP,
    }
