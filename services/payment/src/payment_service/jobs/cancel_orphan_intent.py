"""Cancels an intent that a fenced-out run left behind."""

from __future__ import annotations

from typing import ClassVar

from payment_service.domain.payments import CANCEL_ORPHAN, CancelOrphan, CheckIntentPayload, CheckService
from service_platform.jobs import FencedProcessor, JobRun, Step


class CancelOrphanStep(Step[CheckIntentPayload]):
    """Cancels the intent, if its payment can never store it."""

    name: ClassVar[str] = "cancel-orphan"

    def __init__(self, checks: CheckService) -> None:
        self._checks = checks

    async def run(self, run: JobRun[CheckIntentPayload]) -> None:
        await self._checks.cancel_orphan(
            CancelOrphan(fence=run.fence(self.name), run_key=run.key(self.name), intent_id=run.payload.intent_id)
        )


class CancelOrphanIntent(FencedProcessor[CheckIntentPayload]):
    """One orphan."""

    kind = CANCEL_ORPHAN

    def __init__(self, checks: CheckService) -> None:
        super().__init__([CancelOrphanStep(checks)])
