"""Jobs as operators see them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.pagination import Position

Status = Literal["pending", "running", "failed", "done", "dead", "cancelled", "needs_review"]

_COLUMNS = """
    id, kind, job_key, status, current_step, token, claims, silent_runs, claimed_by, lease_expires_at, run_after,
    dispatched_at, cancel_requested_at, error, review_reason, resolution, created_at, started_at, finished_at
"""
_JOBS = text(
    f"""
    SELECT {_COLUMNS} FROM job
    WHERE status = :status
      AND (CAST(:kind AS text) IS NULL OR kind = :kind)
      AND (CAST(:key AS text) IS NULL OR strpos(job_key, :key) > 0)
      AND (
          CAST(:error AS text) IS NULL
          OR strpos(lower(coalesce(error, '') || ' ' || coalesce(review_reason, '')), lower(:error)) > 0
      )
      AND (CAST(:at AS timestamptz) IS NULL OR (created_at, id) > (:at, CAST(:id AS uuid)))
    ORDER BY created_at, id
    LIMIT :rows
    """  # noqa: S608 - the columns above
)
_JOB = text(
    f"SELECT {_COLUMNS}, resends, payload, correlation_id FROM job WHERE id = :id"  # noqa: S608 - the columns above
)
# Through the partial indexes of what is not finished for good: its cost is that of what is open, however many are done.
_BACKLOG = text(
    """
    SELECT j.kind,
           count(*) FILTER (WHERE j.status = 'pending') AS pending,
           count(*) FILTER (WHERE j.status = 'failed') AS failed,
           count(*) FILTER (WHERE j.status = 'running') AS running,
           count(*) FILTER (WHERE j.status = 'dead') AS dead,
           count(*) FILTER (WHERE j.status = 'needs_review') AS needs_review,
           extract(epoch FROM c.now - min(j.due_at) FILTER (WHERE j.due_at <= c.now))::double precision
               AS oldest_due_seconds
    FROM (SELECT platform_now() AS now OFFSET 0) AS c
    CROSS JOIN (
        SELECT kind, status, run_after AS due_at FROM job WHERE status IN ('pending', 'failed')
        UNION ALL
        SELECT kind, status, lease_expires_at FROM job WHERE status = 'running'
        UNION ALL
        SELECT kind, status, NULL FROM job WHERE status IN ('dead', 'needs_review')
    ) AS j
    GROUP BY j.kind, c.now
    ORDER BY j.kind
    """
)

_At = Annotated[datetime | None, Field(examples=[None])]


class JobBacklog(BaseModel):
    """The jobs of one kind that are not finished for good. A kind that has none is not listed.

    `oldest_due_seconds` is how long the job that could have run first has waited for a worker: one that is due, or one
    whose run lost its lease. It is the figure to alert on. Null when no job waits.
    """

    model_config = ConfigDict(frozen=True, from_attributes=True)

    kind: Annotated[str, Field(examples=["payment.capture-payment"])]
    pending: Annotated[int, Field(examples=[12])]
    failed: Annotated[int, Field(examples=[1])]
    running: Annotated[int, Field(examples=[2])]
    dead: Annotated[int, Field(examples=[0])]
    needs_review: Annotated[int, Field(examples=[0])]
    oldest_due_seconds: Annotated[float | None, Field(examples=[0.25])]


class JobRow(BaseModel):
    """A job in a list."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    id: Annotated[UUID, Field(examples=["0d5bb1de-6f0b-4a6e-9a55-3f7f4f3c2b1a"])]
    kind: Annotated[str, Field(examples=["payment.capture-payment"])]
    job_key: Annotated[str, Field(description="Names the work: one job a key", examples=["capture:018f3c1e"])]
    status: Annotated[Status, Field(examples=["dead"])]
    current_step: Annotated[str | None, Field(description="Where the next run begins", examples=["capture"])]
    token: Annotated[int, Field(description="Of its last claim; in the run keys that a provider saw", examples=[10])]
    claims: Annotated[int, Field(description="Since it was enqueued or retried", examples=[10])]
    silent_runs: Annotated[
        int, Field(description="Runs in a row that ended without a word: their workers died or stalled", examples=[0])
    ]
    claimed_by: Annotated[str | None, Field(description="Host and process of its last run", examples=["worker-1:42"])]
    lease_expires_at: _At
    run_after: Annotated[datetime, Field(description="Not claimed before", examples=["2026-03-01T09:30:00Z"])]
    dispatched_at: Annotated[
        datetime | None, Field(description="When its hint was sent since its last claim", examples=[None])
    ]
    cancel_requested_at: _At
    error: Annotated[str | None, Field(description="The last one", examples=["ProviderUnavailable: 503"])]
    review_reason: Annotated[str | None, Field(description="Why no machine can decide", examples=[None])]
    resolution: Annotated[str | None, Field(description="Why a person cancelled or resolved it", examples=[None])]
    created_at: Annotated[datetime, Field(examples=["2026-03-01T09:00:00Z"])]
    started_at: _At
    finished_at: _At


class JobRecord(JobRow):
    """A job with all that is known of it."""

    resends: Annotated[int, Field(description="Hints since its last claim for which nobody came", examples=[0])]
    payload: Annotated[dict[str, Any], Field(examples=[{"payment_id": "018f3c1e"}])]
    correlation_id: Annotated[str, Field(examples=["0b9b8f0e7d0c4b539c1e0f7f6d0b5a11"])]


async def job_backlog(session: AsyncSession) -> Sequence[JobBacklog]:
    """What is open, by kind."""
    return [JobBacklog.model_validate(row) for row in await session.execute(_BACKLOG)]


async def jobs(
    session: AsyncSession,
    *,
    status: Status,
    kind: str | None = None,
    key: str | None = None,
    error: str | None = None,
    after: Position | None = None,
    rows: int = 100,
) -> Sequence[JobRow]:
    """Up to `rows` jobs in `status`, the oldest first, left at (`created_at`, `id`).

    `key` is a part of the key; `error` a part of the last error's or the review reason's text, in any case.
    """
    at, last = after or (None, None)
    values = {"status": status, "kind": kind, "key": key, "error": error, "at": at, "id": last, "rows": rows}
    return [JobRow.model_validate(row) for row in await session.execute(_JOBS, values)]


async def job(session: AsyncSession, job_id: UUID) -> JobRecord | None:
    """The job with this id, if there is one."""
    row = (await session.execute(_JOB, {"id": job_id})).one_or_none()
    return None if row is None else JobRecord.model_validate(row)
