"""Claiming a job: the only place where runs, fences and run keys come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from .kind import JobKind, PayloadT
from .run import CLAIMED, JobRun
from .statements import ClaimRow, JobStatements


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job that this process owns until its lease runs out."""

    job_id: UUID
    kind: JobKind[Any]
    row: ClaimRow

    def at_step(self, step: str, payload: PayloadT) -> JobRun[PayloadT]:
        """The run as `step` sees it."""
        return JobRun(
            CLAIMED,
            job_id=self.job_id,
            payload=payload,
            step=step,
            token=self.row.token,
            claims=self.row.claims,
            lease_seconds=self.kind.lease_seconds,
        )


async def claim(statements: JobStatements, kind: JobKind[Any], job_id: UUID, *, claimed_by: str) -> ClaimedJob | None:
    """Claim `job_id`; None when there is nothing to do, which is how most late or doubled deliveries end."""
    row = await statements.claim(
        job_id,
        kind=kind.name,
        claimed_by=claimed_by,
        lease_seconds=kind.lease_seconds,
        max_claims=kind.max_claims,
    )
    return None if row is None else ClaimedJob(job_id, kind, row)
