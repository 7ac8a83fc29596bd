"""What billing tells the other services; under `order/` and `payment/` what it reads of them."""

from .credit_note_issued import CreditNoteIssued
from .invoice_issued import InvoiceIssued

__all__ = ["CreditNoteIssued", "InvoiceIssued"]
