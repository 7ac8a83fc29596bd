"""Payments: one an order, captured exactly once through a card provider."""

from .commands import CloseDeclinedIntent, ConfirmIntent, CreateIntent, OpenPayment
from .errors import AnswerPending, PaymentNotFound
from .job_kinds import CAPTURE_PAYMENT, CapturePaymentPayload
from .models import Intent, IntentStatus, PaymentStatus
from .provider import (
    CardDeclined,
    CardProvider,
    IntentRequest,
    IntentStateConflict,
    NeedsReview,
    ProviderError,
    ProviderUnavailable,
)
from .queries import PaymentQueries
from .service import PaymentService
from .table import PaymentTable, metadata
from .views import PaymentView

__all__ = [
    "CAPTURE_PAYMENT",
    "AnswerPending",
    "CapturePaymentPayload",
    "CardDeclined",
    "CardProvider",
    "CloseDeclinedIntent",
    "ConfirmIntent",
    "CreateIntent",
    "Intent",
    "IntentRequest",
    "IntentStateConflict",
    "IntentStatus",
    "NeedsReview",
    "OpenPayment",
    "PaymentNotFound",
    "PaymentQueries",
    "PaymentService",
    "PaymentStatus",
    "PaymentTable",
    "PaymentView",
    "ProviderError",
    "ProviderUnavailable",
    "metadata",
]
