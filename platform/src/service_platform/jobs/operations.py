"""What operators can see of the jobs of a service, and what they can do about them, as operator actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from service_platform.ops import Action, ActionContext, ActionInput, BulkInput, BulkResult, ListInput, bulk, listing
from service_platform.pagination import Page, PageRequest, Position

from .decisions import request_cancel, resolve, retry
from .errors import JobNotFound, JobStateConflict
from .job_rows import JobBacklog, JobRecord, JobRow, Status, job, job_backlog, jobs
from .operation_messages import MESSAGES

_Reason = Annotated[str, Field(min_length=3, max_length=500, description="Why", examples=["refunded by hand"])]


class JobFilter(ActionInput):
    """Which jobs: those that all the given filters fit."""

    kind: Annotated[
        str | None, Field(max_length=200, description="Only of this kind", examples=["payment.capture-payment"])
    ] = None
    key: Annotated[
        str | None, Field(min_length=1, max_length=255, description="Only with this in the key", examples=["018f3c1e"])
    ] = None
    error: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=500,
            description="Only with this in the last error's or the review reason's text",
            examples=["timeout"],
        ),
    ] = None


class ListJobs(ListInput, JobFilter):
    """Which jobs to list."""

    status: Annotated[Status, Field(description="Only in this state")] = "dead"


class RetryJobs(BulkInput, JobFilter):
    """Which jobs to retry."""

    status: Annotated[Literal["failed", "dead", "needs_review"], Field(description="Only in this state")] = "dead"


class OneJob(ActionInput):
    """Which job."""

    id: Annotated[UUID, Field(description="The job's id", examples=["0d5bb1de-6f0b-4a6e-9a55-3f7f4f3c2b1a"])]


class CancelJob(OneJob):
    """Which job, and why."""

    reason: _Reason


class ResolveJob(OneJob):
    """Which job, how it ended outside, and how that is known."""

    status: Annotated[
        Literal["done", "cancelled"],
        Field(description="Whether what it was for has been done, or is given up", examples=["done"]),
    ]
    reason: _Reason


class JobDecision(BaseModel):
    """What became of a job. `cancel_requested`: a run holds it, and ends it at its next safe point."""

    model_config = ConfigDict(frozen=True)

    id: Annotated[UUID, Field(examples=["0d5bb1de-6f0b-4a6e-9a55-3f7f4f3c2b1a"])]
    decision: Annotated[
        Literal["retried", "cancelled", "cancel_requested", "resolved_done", "resolved_cancelled"],
        Field(examples=["retried"]),
    ]


async def _backlog(_given: ActionInput, context: ActionContext) -> Page[JobBacklog]:
    return Page[JobBacklog](items=list(await job_backlog(context.session)), next_cursor=None)


async def _list(given: ListJobs, page: PageRequest, context: ActionContext) -> Sequence[JobRow]:
    return await jobs(
        context.session,
        status=given.status,
        kind=given.kind,
        key=given.key,
        error=given.error,
        after=page.after,
        rows=page.rows_to_read,
    )


async def _show(given: OneJob, context: ActionContext) -> JobRecord:
    found = await job(context.session, given.id)
    if found is None:
        raise JobNotFound(job_id=str(given.id))
    return found


async def _retry(given: OneJob, context: ActionContext) -> JobDecision:
    await retry(context.tx, given.id)
    return JobDecision(id=given.id, decision="retried")


async def _retryable(given: RetryJobs, rows: int, context: ActionContext) -> Sequence[JobRow]:
    return await jobs(
        context.session, status=given.status, kind=given.kind, key=given.key, error=given.error, rows=rows
    )


async def _cancel(given: CancelJob, context: ActionContext) -> JobDecision:
    status = await request_cancel(context.tx, given.id, reason=given.reason)
    return JobDecision(id=given.id, decision="cancelled" if status == "cancelled" else "cancel_requested")


async def _resolve(given: ResolveJob, context: ActionContext) -> JobDecision:
    await resolve(context.tx, given.id, status=given.status, reason=given.reason)
    return JobDecision(id=given.id, decision="resolved_done" if given.status == "done" else "resolved_cancelled")


_JOB_COLUMNS = (
    "id",
    "created_at",
    "kind",
    "job_key",
    "status",
    "current_step",
    "claims",
    "silent_runs",
    "review_reason",
    "error",
)

SHOW_JOB_BACKLOG: Final = Action(
    name="jobs backlog",
    messages=MESSAGES,
    input=ActionInput,
    result=Page[JobBacklog],
    changes=False,
    run=_backlog,
)
LIST_JOBS: Final = listing(
    name="jobs list",
    messages=MESSAGES,
    input=ListJobs,
    result=Page[JobRow],
    find=_list,
    position=lambda row: Position(row.created_at, row.id),
    columns=_JOB_COLUMNS,
)
SHOW_JOB: Final = Action(
    name="jobs show",
    messages=MESSAGES,
    input=OneJob,
    result=JobRecord,
    changes=False,
    run=_show,
    refusals=(JobNotFound,),
    of="id",
)
RETRY_JOB: Final = Action(
    name="jobs retry",
    messages=MESSAGES,
    input=OneJob,
    result=JobDecision,
    changes=True,
    run=_retry,
    refusals=(JobNotFound, JobStateConflict),
    of="id",
)
RETRY_JOBS: Final = bulk(
    name="jobs retry-all",
    messages=MESSAGES,
    input=RetryJobs,
    result=BulkResult[JobRow],
    find=_retryable,
    each=RETRY_JOB,
    each_input=lambda row: OneJob(id=row.id),
    columns=_JOB_COLUMNS,
)
CANCEL_JOB: Final = Action(
    name="jobs cancel",
    messages=MESSAGES,
    input=CancelJob,
    result=JobDecision,
    changes=True,
    run=_cancel,
    refusals=(JobNotFound, JobStateConflict),
    of="id",
    example={"decision": "cancelled"},
)
RESOLVE_JOB: Final = Action(
    name="jobs resolve",
    messages=MESSAGES,
    input=ResolveJob,
    result=JobDecision,
    changes=True,
    run=_resolve,
    refusals=(JobNotFound, JobStateConflict),
    of="id",
    example={"decision": "resolved_done"},
)
