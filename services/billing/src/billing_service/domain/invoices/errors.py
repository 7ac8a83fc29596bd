"""What this capability refuses."""

from typing import ClassVar

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
    example: ClassVar = {"invoice_id": "c2a45f9b-0d13-4a7e-b1c8-6e5d4f3a2b19"}


class CreditNoteNotFound(NotFound, messages=MESSAGES):
    """No such credit note, or none that the caller may know of."""

    slug = "credit-note-not-found"
    example: ClassVar = {"credit_note_id": "9a8b7c6d-5e4f-4a3b-9c2d-1e0f9a8b7c6d"}


class DocumentNotReady(NotFound, messages=MESSAGES):
    """The invoice or credit note is issued, its PDF is not made yet."""

    slug = "document-not-ready"
    example: ClassVar = {"number": "INV-2026-000042"}


class PaidAmountDiffers(Conflict, messages=MESSAGES):
    """The payment's amount or currency is not what the order's lines add up to: no invoice can say both."""

    slug = "paid-amount-differs"
    example: ClassVar = {
        "order_id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10",
        "paid_minor": 4830,
        "paid_currency": "EUR",
        "total_minor": 4930,
        "currency": "EUR",
    }


class OrderNotComplete(Conflict, messages=MESSAGES):
    """One half of the order is missing."""

    slug = "order-not-complete"
    example: ClassVar = {"order_id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10"}


class RefundExceedsInvoice(Conflict, messages=MESSAGES):
    """More was given back than is left of the invoice, or in another currency: no credit note can say that."""

    slug = "refund-exceeds-invoice"
    example: ClassVar = {
        "order_id": "0b6f1d2e-6a59-4f0e-9d55-3f1d2a7c4b10",
        "amount_minor": 5000,
        "refund_currency": "EUR",
        "left_minor": 4830,
        "currency": "EUR",
    }
