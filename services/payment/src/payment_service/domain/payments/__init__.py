"""Payments: one an order, captured exactly once through a card provider, cancelled or given back exactly once."""

from .check_service import CheckService
from .commands import (
    CancelOrphan,
    CancelPayment,
    CheckIntent,
    CheckRefunds,
    CloseIntent,
    ConfirmIntent,
    CreateIntent,
    OpenPayment,
    Reconcile,
    RequestRefund,
    SendRefund,
    TakeHint,
)
from .errors import (
    AnswerPending,
    PaymentNotFound,
    PaymentNotSettled,
    RefundExceedsCapture,
    RefundNotFound,
    WebhookRefused,
)
from .hint_table import HintTable
from .job_kinds import (
    CANCEL_ORPHAN,
    CAPTURE_PAYMENT,
    CHECK_INTENT,
    RECONCILE_PAYMENTS,
    REFUND_PAYMENT,
    CapturePaymentPayload,
    CheckIntentPayload,
    ReconcilePaymentsPayload,
    RefundPaymentPayload,
)
from .models import MAX_AMOUNT_MINOR, Intent, IntentStatus, PaymentStatus
from .provider import (
    CardDeclined,
    CardProvider,
    FailureKept,
    Hint,
    IntentRequest,
    IntentStateConflict,
    NeedsReview,
    Page,
    ProviderError,
    ProviderUnavailable,
    RefundRequest,
    WebhookVerifier,
)
from .queries import PaymentQueries
from .reconcile_service import ReconcileService
from .refund_models import ProviderRefund, ProviderRefundStatus, RefundReason, RefundStatus
from .refund_service import RefundService
from .refund_table import RefundTable
from .service import PaymentService
from .table import PaymentTable, metadata
from .transitions import Transitions
from .views import PaymentView, RefundView

__all__ = [
    "CANCEL_ORPHAN",
    "CAPTURE_PAYMENT",
    "CHECK_INTENT",
    "MAX_AMOUNT_MINOR",
    "RECONCILE_PAYMENTS",
    "REFUND_PAYMENT",
    "AnswerPending",
    "CancelOrphan",
    "CancelPayment",
    "CapturePaymentPayload",
    "CardDeclined",
    "CardProvider",
    "CheckIntent",
    "CheckIntentPayload",
    "CheckRefunds",
    "CheckService",
    "CloseIntent",
    "ConfirmIntent",
    "CreateIntent",
    "FailureKept",
    "Hint",
    "HintTable",
    "Intent",
    "IntentRequest",
    "IntentStateConflict",
    "IntentStatus",
    "NeedsReview",
    "OpenPayment",
    "Page",
    "PaymentNotFound",
    "PaymentNotSettled",
    "PaymentQueries",
    "PaymentService",
    "PaymentStatus",
    "PaymentTable",
    "PaymentView",
    "ProviderError",
    "ProviderRefund",
    "ProviderRefundStatus",
    "ProviderUnavailable",
    "Reconcile",
    "ReconcilePaymentsPayload",
    "ReconcileService",
    "RefundExceedsCapture",
    "RefundNotFound",
    "RefundPaymentPayload",
    "RefundReason",
    "RefundRequest",
    "RefundService",
    "RefundStatus",
    "RefundTable",
    "RefundView",
    "RequestRefund",
    "SendRefund",
    "TakeHint",
    "Transitions",
    "WebhookRefused",
    "WebhookVerifier",
    "metadata",
]
