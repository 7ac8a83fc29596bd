"""Captures a payment: create an intent, store it, confirm the stored one, close one that is not wanted."""

from __future__ import annotations

from typing import ClassVar

from payment_service.domain.payments import (
    CAPTURE_PAYMENT,
    CapturePaymentPayload,
    CloseIntent,
    ConfirmIntent,
    CreateIntent,
    PaymentService,
)
from service_platform.jobs import FencedProcessor, JobRun, Step


class CreateIntentStep(Step[CapturePaymentPayload]):
    """Gives the payment its one intent."""

    name: ClassVar[str] = "create-intent"

    def __init__(self, payments: PaymentService) -> None:
        self._payments = payments

    async def run(self, run: JobRun[CapturePaymentPayload]) -> None:
        await self._payments.create_intent(
            CreateIntent(fence=run.fence(self.name), run_key=run.key(self.name), payment_id=run.payload.payment_id)
        )


class ConfirmIntentStep(Step[CapturePaymentPayload]):
    """Confirms the stored intent and settles the payment."""

    name: ClassVar[str] = "confirm-intent"

    def __init__(self, payments: PaymentService) -> None:
        self._payments = payments

    async def run(self, run: JobRun[CapturePaymentPayload]) -> None:
        await self._payments.confirm_intent(
            ConfirmIntent(fence=run.fence(self.name), run_key=run.key(self.name), payment_id=run.payload.payment_id)
        )


class CloseIntentStep(Step[CapturePaymentPayload]):
    """Cancels an intent that was declined, or whose order was cancelled; a settled payment is left as it is."""

    name: ClassVar[str] = "close-intent"

    def __init__(self, payments: PaymentService) -> None:
        self._payments = payments

    async def run(self, run: JobRun[CapturePaymentPayload]) -> None:
        await self._payments.close_intent(
            CloseIntent(fence=run.fence(self.name), run_key=run.key(self.name), payment_id=run.payload.payment_id)
        )


class CapturePayment(FencedProcessor[CapturePaymentPayload]):
    """The capture of one payment."""

    kind = CAPTURE_PAYMENT

    def __init__(self, payments: PaymentService) -> None:
        super().__init__([CreateIntentStep(payments), ConfirmIntentStep(payments), CloseIntentStep(payments)])
