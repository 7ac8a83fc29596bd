"""Work that happens after a commit: processors and their steps."""

from .cancel_orphan_intent import CancelOrphanIntent
from .capture_payment import CapturePayment
from .check_intent import CheckPaymentIntent
from .reconcile_payments import ReconcilePayments
from .refund_payment import RefundPayment

__all__ = ["CancelOrphanIntent", "CapturePayment", "CheckPaymentIntent", "ReconcilePayments", "RefundPayment"]
