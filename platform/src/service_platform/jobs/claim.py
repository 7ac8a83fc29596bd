"""Claiming a job: the only place where runs, fences and run keys come from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from service_platform.database import DATABASE_LOST
from service_platform.pacing import Backoff
from service_platform.telemetry import get_logger

from .kind import JobKind, PayloadT
from .log_events import JobsLogEvent
from .run import CLAIMED, JobRun, never
from .statements import ClaimRow, JobStatements

_PATIENCE_SECONDS = 20.0

_log = get_logger()


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job that this process owns until its lease runs out."""

    job_id: UUID
    kind: JobKind[Any]
    row: ClaimRow

    def at_step(self, step: str, payload: PayloadT, cancel_requested: Callable[[], bool] = never) -> JobRun[PayloadT]:
        """The run as `step` sees it."""
        return JobRun(
            CLAIMED,
            job_id=self.job_id,
            payload=payload,
            step=step,
            token=self.row.token,
            claims=self.row.claims,
            lease_seconds=self.kind.lease_seconds,
            cancel_requested=cancel_requested,
        )


async def claim(statements: JobStatements, kind: JobKind[Any], job_id: UUID, *, claimed_by: str) -> ClaimedJob | None:
    """Claim `job_id`; None when there is nothing to do, which is how most late or doubled deliveries end.

    While the database is away it waits and tries again, for 20 s: otherwise a worker would take hint after hint from
    the queue and do nothing with any. A claim whose answer was lost leaves a lease that runs out.
    """
    backoff, patient_until = Backoff(0.1, 2.0), time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            row = await statements.claim(
                job_id,
                kind=kind.name,
                claimed_by=claimed_by,
                lease_seconds=kind.lease_seconds,
                max_claims=kind.max_claims,
                max_silent_runs=kind.max_silent_runs,
            )
        except DATABASE_LOST as error:
            if time.monotonic() > patient_until:
                raise
            pause = backoff.failed()
            _log.warning(JobsLogEvent.CLAIM_FAILED, attempt=backoff.failures, error=repr(error))
            await asyncio.sleep(pause)
        else:
            return None if row is None else ClaimedJob(job_id, kind, row)
