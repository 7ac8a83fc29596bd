"""What the order service does by the clock, as data."""

from typing import Final

from order_service.domain.orders import EXPIRE_ORDERS, ExpireOrdersPayload
from service_platform.housekeeping import housekeeping_ticks
from service_platform.ticks import JobTicks, MissedRuns, Tick

JOB_TICKS: Final[JobTicks] = (
    *housekeeping_ticks("order"),
    Tick(
        name="expire-orders",
        cron="* * * * *",
        kind=EXPIRE_ORDERS,
        payload=ExpireOrdersPayload(),
        missed=MissedRuns.SKIP,  # the next minute finds the same orders
    ),
)

__all__ = ["JOB_TICKS"]
