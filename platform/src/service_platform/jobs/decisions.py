"""What a person decides about a job. Each works in the caller's transaction and is one SQL function."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from sqlalchemy import text

from service_platform.database import Transaction
from service_platform.errors import storable

from .errors import JobNotFound, JobStateConflict

_CANCEL = text("SELECT job_request_cancel(:job_id, :reason)")
_RETRY = text("SELECT job_retry(:job_id)")
_RESOLVE = text("SELECT job_resolve(:job_id, :status, :reason)")
_STATUS = text("SELECT status FROM job WHERE id = :job_id")


async def request_cancel(tx: Transaction, job_id: UUID, *, reason: str) -> Literal["cancelled", "running"]:
    """Cancel the job, or ask its run to end.

    `cancelled`: nobody worked on it, and nobody will. `running`: a run holds its lease; it hears of the request at its
    next renewal and ends the job at its next safe point, unless it gets to its end before. Raises `JobNotFound`, and
    `JobStateConflict` for a job that is finished.
    """
    status = await _call(tx, _CANCEL, job_id, reason=storable(reason))
    return "cancelled" if status == "cancelled" else "running"


async def retry(tx: Transaction, job_id: UUID) -> None:
    """Have a failed or dead job, or one that needs review, run again at once from its current step, all claims anew.

    The next sweep sends it. Raises `JobNotFound`, and `JobStateConflict` for any other job.
    """
    await _call(tx, _RETRY, job_id)


async def resolve(tx: Transaction, job_id: UUID, *, status: Literal["done", "cancelled"], reason: str) -> None:
    """End a dead job, or one that needs review, without running it.

    It changes the job only: what the job is about has been settled before, outside of it. Raises `JobNotFound`, and
    `JobStateConflict` for any other job.
    """
    await _call(tx, _RESOLVE, job_id, status=status, reason=storable(reason))


async def _call(tx: Transaction, function: Any, job_id: UUID, **more: str) -> object:
    verdict = (await tx.session.execute(function, {"job_id": job_id, **more})).scalar_one()
    if not verdict:
        status = (await tx.session.execute(_STATUS, {"job_id": job_id})).scalar_one_or_none()
        if status is None:
            raise JobNotFound(job_id=str(job_id))
        raise JobStateConflict(job_id=str(job_id), state=status)
    answer: object = verdict
    return answer
