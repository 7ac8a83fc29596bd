"""What the payment service does by the clock, as data."""

from typing import Final

from service_platform.housekeeping import housekeeping_ticks
from service_platform.ticks import JobTicks

JOB_TICKS: Final[JobTicks] = (*housekeeping_ticks("payment"),)

__all__ = ["JOB_TICKS"]
