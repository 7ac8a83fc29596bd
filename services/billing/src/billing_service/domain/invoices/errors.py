"""What this capability refuses."""

from service_platform.errors import Conflict, NotFound

from .messages import MESSAGES


class InvoiceNotFound(NotFound, messages=MESSAGES):
    """No such invoice, or none that the caller may know of.

    NotFound ─┬ InvoiceNotFound
              └ DocumentNotReady
    Conflict ─┬ PaidAmountDiffers
              └ OrderNotComplete
    """

    slug = "invoice-not-found"


class DocumentNotReady(NotFound, messages=MESSAGES):
    """The invoice is issued, its PDF is not made yet."""

    slug = "document-not-ready"


class PaidAmountDiffers(Conflict, messages=MESSAGES):
    """The payment's amount or currency is not what the order's lines add up to: no invoice can say both."""

    slug = "paid-amount-differs"


class OrderNotComplete(Conflict, messages=MESSAGES):
    """One half of the order is missing."""

    slug = "order-not-complete"
