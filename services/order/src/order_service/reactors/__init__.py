"""What this service does when others tell something."""

from .mark_cancelled import MarkCancelledOnPaymentCancelled
from .mark_declined import MarkDeclinedOnPaymentDeclined
from .mark_paid import MarkPaidOnPaymentSettled
from .record_credit_note import RecordCreditNoteOnCreditNoteIssued
from .record_invoice import RecordInvoiceOnInvoiceIssued
from .record_refund import RecordRefundOnPaymentRefunded

__all__ = [
    "MarkCancelledOnPaymentCancelled",
    "MarkDeclinedOnPaymentDeclined",
    "MarkPaidOnPaymentSettled",
    "RecordCreditNoteOnCreditNoteIssued",
    "RecordInvoiceOnInvoiceIssued",
    "RecordRefundOnPaymentRefunded",
]
