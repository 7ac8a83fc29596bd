"""The jobs of this capability."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict

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


async def enqueue_capture_payment(payment_id: UUID, tx: Transaction) -> None:
    """Capture the payment after `tx` commits: one job a payment, ever."""
    await CAPTURE_PAYMENT.enqueue(CapturePaymentPayload(payment_id=payment_id), tx, key=f"capture:{payment_id}")
