"""What this service does when others tell something."""

from .mark_declined import MarkDeclinedOnPaymentDeclined
from .mark_paid import MarkPaidOnPaymentSettled
from .record_invoice import RecordInvoiceOnInvoiceIssued

__all__ = ["MarkDeclinedOnPaymentDeclined", "MarkPaidOnPaymentSettled", "RecordInvoiceOnInvoiceIssued"]
