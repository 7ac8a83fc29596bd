"""Runs that end without a word have a limit of their own, far below the one of claims."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest
from jobs_lab import QUICK, Owner, Script, enqueue, shift_clock

from service_platform.database import Database
from service_platform.jobs import JobKind
from service_platform.jobs.operations import LIST_JOBS, ListJobs
from service_platform.jobs.statements import ClaimRow, JobStatements
from service_platform.ops import ActionRunner, Operator

LEASE_SECONDS = 30
MOST = 3

Report = Callable[[JobStatements, Owner, UUID, int], Awaitable[object]]


async def _set_aside_and_retried(statements: JobStatements, owner: Owner, job_id: UUID, token: int) -> bool:
    assert await statements.review(job_id, expected_token=token, reason="who knows")
    return bool(await owner.fetchval("SELECT silent_runs = 0 FROM job")) and bool(
        await owner.fetchval("SELECT job_retry($1)", job_id)
    )


REPORTS: dict[str, Report] = {
    "fails": lambda statements, _, job_id, token: statements.fail(
        job_id, expected_token=token, error="no", retry_in_seconds=0, max_claims=300
    ),
    "hands back": lambda statements, _, job_id, token: statements.release(job_id, expected_token=token),
    "is set aside": _set_aside_and_retried,
}


@pytest.fixture
def statements(database: Database) -> JobStatements:
    return JobStatements(database)


class Time:
    """Lets leases run out."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._ahead = 0

    async def passes(self) -> None:
        self._ahead += LEASE_SECONDS + 1
        await shift_clock(self._owner, self._ahead)


async def claim(statements: JobStatements, job_id: UUID, by: str = "me") -> ClaimRow:
    row = await statements.claim(
        job_id,
        kind=QUICK.name,
        claimed_by=by,
        lease_seconds=LEASE_SECONDS,
        max_claims=300,
        max_silent_runs=MOST,
    )
    assert row is not None, "the claim matched nothing"
    return row


async def test_a_job_is_dead_in_the_claim_that_finds_so_many_runs_in_a_row_without_a_word(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id, time = await enqueue(database, Script(), "a"), Time(owner)
    claims = []
    for worker in range(1, MOST + 2):
        claims.append(await claim(statements, job_id, by=f"worker:{worker}"))
        await time.passes()

    assert [row.silent_runs for row in claims] == [0, 1, 2, 3]
    assert [row.status for row in claims] == ["running", "running", "running", "dead"]
    assert [row.token for row in claims] == [1, 2, 3, 4], "the last run is fenced out as well"
    assert not await statements.complete(job_id, expected_token=MOST)
    found = await owner.fetchrow("SELECT status, claims, silent_runs, error FROM job")
    assert found is not None
    assert tuple(found)[:3] == ("dead", 3, 3)
    assert "Claimed 3 times; 3 in a row ended without a word, the last one in worker:3" in found["error"]


@pytest.mark.parametrize("report", REPORTS)
async def test_a_run_that_says_how_it_ended_sets_the_count_back(
    database: Database, statements: JobStatements, owner: Owner, report: str
) -> None:
    job_id, time = await enqueue(database, Script(), "a"), Time(owner)
    for _ in range(2):  # twice as many silent runs as would do, but not in a row
        for silent in range(MOST):
            row = await claim(statements, job_id)
            assert (row.status, row.silent_runs) == ("running", silent)
            if silent < MOST - 1:
                await time.passes()
        assert await REPORTS[report](statements, owner, job_id, row.token)

    row = await claim(statements, job_id)
    assert (row.status, row.silent_runs) == ("running", 0)
    assert await statements.complete(job_id, expected_token=row.token)


async def test_a_retried_job_has_all_its_silent_runs_again(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id, time = await enqueue(database, Script(), "a"), Time(owner)
    for _ in range(MOST + 1):
        dead = await claim(statements, job_id)
        await time.passes()
    assert dead.status == "dead"

    assert await owner.fetchval("SELECT job_retry($1)", job_id)

    row = await claim(statements, job_id)
    assert (row.status, row.silent_runs, row.claims) == ("running", 0, 1)


async def test_of_many_that_claim_the_lost_job_at_once_one_counts_the_run(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id, time = await enqueue(database, Script(), "a"), Time(owner)
    await claim(statements, job_id)
    await time.passes()

    rows = await asyncio.gather(
        *(
            statements.claim(
                job_id, kind=QUICK.name, claimed_by="me", lease_seconds=30, max_claims=300, max_silent_runs=MOST
            )
            for _ in range(8)
        )
    )

    assert [row.silent_runs for row in rows if row is not None] == [1]
    assert await owner.fetchval("SELECT silent_runs FROM job") == 1
    assert await statements.complete(job_id, expected_token=2)
    assert await owner.fetchval("SELECT silent_runs FROM job") == 0


async def test_operators_see_the_count(database: Database, statements: JobStatements, owner: Owner) -> None:
    job_id, time = await enqueue(database, Script(), "a"), Time(owner)
    for _ in range(MOST + 1):
        await claim(statements, job_id)
        await time.passes()

    page = await ActionRunner(database, "lab").run(LIST_JOBS, ListJobs(status="dead"), Operator("jane", "command"))

    assert [(row.id, row.claims, row.silent_runs) for row in page.items] == [(job_id, MOST, MOST)]
    assert "silent_runs" in LIST_JOBS.columns


def test_a_kind_stands_few_silent_runs_however_many_claims_it_has() -> None:
    patient = JobKind(name="lab.patient", payload=Script, max_claims=300)

    assert patient.max_silent_runs == 10
    with pytest.raises(ValueError, match="at least 1"):
        JobKind(name="lab.none", payload=Script, max_silent_runs=0)
