"""Looks at one intent, its payment and its refunds: what a webhook hints at, and what a reconcile found."""

from __future__ import annotations

from typing import ClassVar

from payment_service.domain.payments import CHECK_INTENT, CheckIntent, CheckIntentPayload, CheckRefunds, CheckService
from service_platform.jobs import FencedProcessor, JobRun, Step


class CheckIntentStep(Step[CheckIntentPayload]):
    """Concludes a payment whose answer nobody heard; flags a contradiction."""

    name: ClassVar[str] = "check-intent"

    def __init__(self, checks: CheckService) -> None:
        self._checks = checks

    async def run(self, run: JobRun[CheckIntentPayload]) -> None:
        await self._checks.check_intent(CheckIntent(fence=run.fence(self.name), intent_id=run.payload.intent_id))


class CheckRefundsStep(Step[CheckIntentPayload]):
    """Brings the payment's refunds to what the provider lists."""

    name: ClassVar[str] = "check-refunds"

    def __init__(self, checks: CheckService) -> None:
        self._checks = checks

    async def run(self, run: JobRun[CheckIntentPayload]) -> None:
        await self._checks.check_refunds(CheckRefunds(fence=run.fence(self.name), intent_id=run.payload.intent_id))


class CheckPaymentIntent(FencedProcessor[CheckIntentPayload]):
    """The check of one intent."""

    kind = CHECK_INTENT

    def __init__(self, checks: CheckService) -> None:
        super().__init__([CheckIntentStep(checks), CheckRefundsStep(checks)])
