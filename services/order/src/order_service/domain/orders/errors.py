"""What this capability refuses."""

from typing import ClassVar

from service_platform.errors import Conflict, Invalid, NotFound

from .messages import MESSAGES


class OrderNotFound(NotFound, messages=MESSAGES):
    """No such order, or none that the caller may know of.

    NotFound ── OrderNotFound
    Conflict ─┬ OrderStateConflict
              └ RefundNotPossible
    Invalid  ─┬ UnknownCurrency
              └ TotalTooLarge
    """

    slug = "order-not-found"
    example: ClassVar = {"order_id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10"}


class OrderStateConflict(Conflict, messages=MESSAGES):
    """The order's state does not lead to the wanted one."""

    slug = "order-state-conflict"
    example: ClassVar = {
        "order_id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10",
        "state": "declined",
        "wanted": "cancelling",
    }


class RefundNotPossible(Conflict, messages=MESSAGES):
    """So much cannot have been given back of this order: it would be more than it cost, or was never paid for."""

    slug = "refund-not-possible"
    example: ClassVar = {
        "order_id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10",
        "state": "paid",
        "amount_minor": 5000,
        "refund_currency": "EUR",
    }


class UnknownCurrency(Invalid, messages=MESSAGES):
    """Not a currency of ISO 4217, or one without a minor unit (metals, funds, test codes)."""

    slug = "unknown-currency"
    example: ClassVar = {"currency": "XTS"}


class TotalTooLarge(Invalid, messages=MESSAGES):
    """The lines add up to more than an order may cost."""

    slug = "total-too-large"
    example: ClassVar = {"total_minor": 100_000_000_001, "max_total_minor": 100_000_000_000}
