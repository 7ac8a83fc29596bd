"""What order reads of billing's events."""

from .credit_note_issued import CreditNoteIssued
from .invoice_issued import InvoiceIssued

__all__ = ["CreditNoteIssued", "InvoiceIssued"]
