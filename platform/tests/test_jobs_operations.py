"""What operators see of jobs and do about them, through the actions, on a real database."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest
from jobs_lab import QUICK, Owner, Script, enqueue, shift_clock
from ops_plants import dead_job
from structlog.testing import capture_logs

from service_platform.database import Database
from service_platform.jobs import JobKind, JobNotFound, JobStateConflict
from service_platform.jobs.operations import (
    CANCEL_JOB,
    LIST_JOBS,
    RESOLVE_JOB,
    RETRY_JOBS,
    SHOW_JOB,
    SHOW_JOB_BACKLOG,
    CancelJob,
    ListJobs,
    OneJob,
    ResolveJob,
    RetryJobs,
)
from service_platform.ops import ActionInput, ActionRunner, Operator

JANE = Operator("jane", "command")
OTHER = JobKind(name="lab.other", payload=Script)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with capture_logs():
        yield


@pytest.fixture
def runner(database: Database) -> ActionRunner:
    return ActionRunner(database, "lab")


async def claimed(owner: Owner, job_id: UUID) -> None:
    assert await owner.fetchval("SELECT status FROM job_claim($1, $2, 'me', 30, 3, 3)", job_id, QUICK.name) == "running"


async def test_the_backlog_counts_what_is_open_by_kind_and_tells_how_long_the_oldest_has_waited(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    await dead_job(database, owner)
    running, done = await enqueue(database, Script(), "running"), await enqueue(database, Script(), "done")
    for job_id in (running, done):
        await claimed(owner, job_id)
    await owner.fetchval("SELECT job_complete($1, 1)", done)
    await shift_clock(owner, 90)
    await enqueue(database, Script(), "other", kind=OTHER)

    quick, other = reversed((await runner.run(SHOW_JOB_BACKLOG, ActionInput(), JANE)).items)

    assert (quick.kind, quick.dead, quick.running, quick.pending) == (QUICK.name, 1, 1, 0)
    assert quick.oldest_due_seconds is not None
    assert 59 < quick.oldest_due_seconds < 90, "its run lost its lease of 30 s"
    assert (other.kind, other.pending) == (OTHER.name, 1)
    assert other.oldest_due_seconds is not None
    assert other.oldest_due_seconds < 60


async def test_a_list_shows_one_state_by_kind_key_and_error_page_by_page(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    ids = [await enqueue(database, Script(), f"capture:{number}") for number in range(5)]
    dead = await dead_job(database, owner)
    seen, cursor = [], None
    for _ in range(3):
        page = await runner.run(LIST_JOBS, ListJobs(status="pending", limit=2, cursor=cursor), JANE)
        seen += [row.id for row in page.items]
        cursor = page.next_cursor

    assert seen == ids
    assert cursor is None
    (by_key,) = (await runner.run(LIST_JOBS, ListJobs(status="pending", key=":3"), JANE)).items
    assert by_key.id == ids[3]
    (by_error,) = (await runner.run(LIST_JOBS, ListJobs(error="SAID NOTHING"), JANE)).items
    assert by_error.id == dead
    assert (await runner.run(LIST_JOBS, ListJobs(kind=OTHER.name), JANE)).items == []


async def test_a_bulk_retry_is_a_dry_run_unless_it_is_applied(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    dead = await dead_job(database, owner)
    status = "SELECT status FROM job WHERE id = $1"

    (found,) = (await runner.run(RETRY_JOBS, RetryJobs(), JANE)).items
    assert (found.fate, found.row.id, await owner.fetchval(status, dead)) == ("found", dead, "dead")
    (done,) = (await runner.run(RETRY_JOBS, RetryJobs(apply=True), JANE)).items
    assert (done.fate, await owner.fetchval(status, dead)) == ("done", "pending")


async def test_a_running_job_is_asked_to_end_and_a_waiting_one_is_cancelled(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    running, waiting = await enqueue(database, Script(), "running"), await enqueue(database, Script(), "waiting")
    await claimed(owner, running)

    decisions = [
        (await runner.run(CANCEL_JOB, CancelJob(id=job_id, reason="no longer wanted"), JANE)).decision
        for job_id in (running, waiting)
    ]

    assert decisions == ["cancel_requested", "cancelled"]
    record = await runner.run(SHOW_JOB, OneJob(id=running), JANE)
    assert (record.status, record.resolution) == ("running", "no longer wanted")
    assert record.cancel_requested_at is not None
    assert record.payload["first"] == "note"


async def test_what_a_machine_still_decides_cannot_be_resolved_and_the_refusal_says_where_the_job_stands(
    runner: ActionRunner, database: Database
) -> None:
    job_id = await enqueue(database, Script(), "a")
    with pytest.raises(JobStateConflict) as refusal:
        await runner.run(RESOLVE_JOB, ResolveJob(id=job_id, status="done", reason="by hand"), JANE)
    assert refusal.value.facts["state"] == "pending"
    with pytest.raises(JobNotFound):
        await runner.run(SHOW_JOB, OneJob(id=UUID(int=1)), JANE)
