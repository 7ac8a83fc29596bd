"""What this capability refuses."""

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


class OrderStateConflict(Conflict, messages=MESSAGES):
    """The order's state does not lead to the wanted one."""

    slug = "order-state-conflict"


class RefundNotPossible(Conflict, messages=MESSAGES):
    """So much cannot have been given back of this order: it would be more than it cost, or was never paid for."""

    slug = "refund-not-possible"


class UnknownCurrency(Invalid, messages=MESSAGES):
    """Not a currency of ISO 4217, or one without a minor unit (metals, funds, test codes)."""

    slug = "unknown-currency"


class TotalTooLarge(Invalid, messages=MESSAGES):
    """The lines add up to more than an order may cost."""

    slug = "total-too-large"
