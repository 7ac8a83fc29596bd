"""What this capability refuses."""

from service_platform.errors import Conflict, NotFound

from .messages import MESSAGES


class InvoiceNotFound(NotFound, messages=MESSAGES):
    """No such invoice, or none that the caller may know of.

    NotFound ─┬ InvoiceNotFound
              ├ CreditNoteNotFound
              └ DocumentNotReady
    Conflict ─┬ PaidAmountDiffers
              ├ OrderNotComplete
              └ RefundExceedsInvoice
    """

    slug = "invoice-not-found"


class CreditNoteNotFound(NotFound, messages=MESSAGES):
    """No such credit note, or none that the caller may know of."""

    slug = "credit-note-not-found"


class DocumentNotReady(NotFound, messages=MESSAGES):
    """The invoice or credit note is issued, its PDF is not made yet."""

    slug = "document-not-ready"


class PaidAmountDiffers(Conflict, messages=MESSAGES):
    """The payment's amount or currency is not what the order's lines add up to: no invoice can say both."""

    slug = "paid-amount-differs"


class OrderNotComplete(Conflict, messages=MESSAGES):
    """One half of the order is missing."""

    slug = "order-not-complete"


class RefundExceedsInvoice(Conflict, messages=MESSAGES):
    """More was given back than is left of the invoice, or in another currency: no credit note can say that."""

    slug = "refund-exceeds-invoice"
