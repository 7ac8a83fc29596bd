"""The jobs of this capability."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from service_platform.database import Transaction
from service_platform.jobs import JobKind


class CapturePaymentPayload(BaseModel):
    """Which payment to capture."""

    model_config = ConfigDict(frozen=True)

    payment_id: UUID


CAPTURE_PAYMENT: Final = JobKind(
    name="payment.capture-payment",
    payload=CapturePaymentPayload,
    lease_seconds=15,
    deadline_seconds=120,
    # An outage of the provider uses claims up while it lasts: at five minutes between tries this outlives a day.
    max_claims=300,
)


class RefundPaymentPayload(BaseModel):
    """Which refund to make."""

    model_config = ConfigDict(frozen=True)

    refund_id: UUID


REFUND_PAYMENT: Final = JobKind(
    name="payment.refund-payment",
    payload=RefundPaymentPayload,
    lease_seconds=15,
    deadline_seconds=120,
    max_claims=300,  # outlives the day after which an unanswered refund needs review, which is then its end
)


class CheckIntentPayload(BaseModel):
    """Which of the provider's intents to look at."""

    model_config = ConfigDict(frozen=True)

    intent_id: str


CHECK_INTENT: Final = JobKind(
    name="payment.check-intent", payload=CheckIntentPayload, lease_seconds=15, deadline_seconds=120, max_claims=20
)

CANCEL_ORPHAN: Final = JobKind(
    name="payment.cancel-orphan-intent",
    payload=CheckIntentPayload,
    lease_seconds=15,
    deadline_seconds=120,
    max_claims=20,
)


class ReconcilePaymentsPayload(BaseModel):
    """How far back to compare. Twice the time between two reconciles, or more, and a day above the longest outage."""

    model_config = ConfigDict(frozen=True)

    lookback_hours: int = Field(default=72, ge=1, le=24 * 30)


RECONCILE_PAYMENTS: Final = JobKind(
    name="payment.reconcile-payments",
    payload=ReconcilePaymentsPayload,
    lease_seconds=30,
    deadline_seconds=600,
    max_claims=5,  # the next tick makes another one
)


async def enqueue_capture_payment(payment_id: UUID, tx: Transaction) -> None:
    """Capture the payment after `tx` commits: one job a payment, ever."""
    await CAPTURE_PAYMENT.enqueue(CapturePaymentPayload(payment_id=payment_id), tx, key=f"capture:{payment_id}")


async def enqueue_refund_payment(refund_id: UUID, tx: Transaction) -> None:
    """Make the refund after `tx` commits: one job a refund, ever."""
    await REFUND_PAYMENT.enqueue(RefundPaymentPayload(refund_id=refund_id), tx, key=f"refund:{refund_id}")


async def enqueue_check_intent(intent_id: str, tx: Transaction, *, because: str) -> None:
    """Look at the intent after `tx` commits: one job an occasion."""
    await CHECK_INTENT.enqueue(CheckIntentPayload(intent_id=intent_id), tx, key=f"check:{because}")


async def enqueue_cancel_orphan(intent_id: str, tx: Transaction, *, because: str) -> None:
    """Cancel an intent that no payment can ever use, after `tx` commits: one job an occasion."""
    await CANCEL_ORPHAN.enqueue(CheckIntentPayload(intent_id=intent_id), tx, key=f"cancel-orphan:{because}")
