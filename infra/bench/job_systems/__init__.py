"""Everyone who runs jobs: our own fenced ones, plain Celery on the same broker, and a queue in Postgres."""

from __future__ import annotations

from .fencepost import FencedStepJobs, FencepostJobs
from .job_system import JobSystem
from .plain_celery import PlainCelery
from .procrastinate import Procrastinate

JOB_SYSTEMS: tuple[type[JobSystem], ...] = (PlainCelery, FencepostJobs, FencedStepJobs, Procrastinate)

__all__ = ["JOB_SYSTEMS", "FencedStepJobs", "FencepostJobs", "JobSystem", "PlainCelery", "Procrastinate"]
