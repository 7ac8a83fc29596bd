"""What the payment service does by the clock, as data."""

from typing import Final

from payment_service.domain.payments import RECONCILE_PAYMENTS, ReconcilePaymentsPayload
from service_platform.housekeeping import housekeeping_ticks
from service_platform.ticks import JobTicks, MissedRuns, Tick

JOB_TICKS: Final[JobTicks] = (
    *housekeeping_ticks("payment"),
    Tick(
        name="reconcile-payments",
        cron="17 * * * *",
        kind=RECONCILE_PAYMENTS,
        payload=ReconcilePaymentsPayload(),
        missed=MissedRuns.SKIP,  # each one looks back over days
    ),
)

__all__ = ["JOB_TICKS"]
