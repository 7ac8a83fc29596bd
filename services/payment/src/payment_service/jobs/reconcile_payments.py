"""Compares the provider's ledger with the tables. A tick starts it."""

from __future__ import annotations

from typing import ClassVar

from payment_service.domain.payments import (
    RECONCILE_PAYMENTS,
    Reconcile,
    ReconcilePaymentsPayload,
    ReconcileService,
)
from service_platform.jobs import FencedProcessor, JobRun, Step


def _command(run: JobRun[ReconcilePaymentsPayload], step: str) -> Reconcile:
    return Reconcile(fence=run.fence(step), run=str(run.job_id), lookback_hours=run.payload.lookback_hours)


class CompareIntentsStep(Step[ReconcilePaymentsPayload]):
    """Finds orphans, contradictions and answers that nobody heard."""

    name: ClassVar[str] = "compare-intents"

    def __init__(self, reconcile: ReconcileService) -> None:
        self._reconcile = reconcile

    async def run(self, run: JobRun[ReconcilePaymentsPayload]) -> None:
        await self._reconcile.compare_intents(_command(run, self.name))


class CompareRefundsStep(Step[ReconcilePaymentsPayload]):
    """Finds refunds that our table says otherwise, or nothing, of."""

    name: ClassVar[str] = "compare-refunds"

    def __init__(self, reconcile: ReconcileService) -> None:
        self._reconcile = reconcile

    async def run(self, run: JobRun[ReconcilePaymentsPayload]) -> None:
        await self._reconcile.compare_refunds(_command(run, self.name))


class LookAtWaitingStep(Step[ReconcilePaymentsPayload]):
    """Finds what has waited too long for an answer."""

    name: ClassVar[str] = "look-at-waiting"

    def __init__(self, reconcile: ReconcileService) -> None:
        self._reconcile = reconcile

    async def run(self, run: JobRun[ReconcilePaymentsPayload]) -> None:
        await self._reconcile.look_at_waiting(_command(run, self.name))


class ReconcilePayments(FencedProcessor[ReconcilePaymentsPayload]):
    """One reconcile."""

    kind = RECONCILE_PAYMENTS

    def __init__(self, reconcile: ReconcileService) -> None:
        super().__init__([CompareIntentsStep(reconcile), CompareRefundsStep(reconcile), LookAtWaitingStep(reconcile)])
