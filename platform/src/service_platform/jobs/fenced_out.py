"""The verdict of the fence."""

from __future__ import annotations

from service_platform.database import ClaimRefused


class JobFencedOut(ClaimRefused):
    """A newer run owns the job, or it is finished: this run must write nothing more.

    Nobody but the processor catches it; it ends the delivery quietly.
    """
