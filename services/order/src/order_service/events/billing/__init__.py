"""What order reads of billing's events."""

from .invoice_issued import InvoiceIssued

__all__ = ["InvoiceIssued"]
