"""What billing tells the other services; under `order/` and `payment/` what it reads of them."""

from .invoice_issued import InvoiceIssued

__all__ = ["InvoiceIssued"]
