"""A run settles its job once: after that its own token is as stale as any other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest
from jobs_lab import QUICK, Owner, Script, enqueue

from service_platform.database import Database
from service_platform.jobs.statements import JobStatements

Settle = Callable[[JobStatements, UUID], Awaitable[object]]

WAYS: dict[str, Settle] = {
    "done": lambda statements, job_id: statements.complete(job_id, expected_token=1),
    "failed": lambda statements, job_id: statements.fail(
        job_id, expected_token=1, error="no", retry_in_seconds=0, max_claims=3
    ),
    "dead": lambda statements, job_id: statements.fail(
        job_id, expected_token=1, error="no", retry_in_seconds=0, max_claims=1
    ),
    "pending": lambda statements, job_id: statements.release(job_id, expected_token=1),
    "needs_review": lambda statements, job_id: statements.review(job_id, expected_token=1, reason="who knows"),
    "cancelled": lambda statements, job_id: statements.cancel(job_id, expected_token=1),
}


@pytest.fixture
def statements(database: Database) -> JobStatements:
    return JobStatements(database)


async def running(database: Database, statements: JobStatements, key: str = "a") -> UUID:
    """A job whose first run is under way."""
    job_id = await enqueue(database, Script(), key)
    row = await statements.claim(
        job_id, kind=QUICK.name, claimed_by="me", lease_seconds=30, max_claims=3, max_silent_runs=3
    )
    assert row is not None
    assert row.token == 1
    return job_id


@pytest.mark.parametrize("status", WAYS)
async def test_a_run_that_has_settled_changes_nothing_more(
    database: Database, statements: JobStatements, owner: Owner, status: str
) -> None:
    job_id = await running(database, statements)
    if status == "cancelled":
        await owner.fetchval("SELECT job_request_cancel($1, 'no longer wanted')", job_id)
    assert await WAYS[status](statements, job_id)
    before = await owner.fetchrow("SELECT * FROM job")
    assert before is not None
    assert before["status"] == status

    for settle in WAYS.values():
        assert not await settle(statements, job_id)
    assert await owner.fetchval("SELECT job_renew($1, 1, 30)", job_id) is None
    assert not await owner.fetchval("SELECT job_advance($1, 'step', 1, 30)", job_id)

    assert await owner.fetchrow("SELECT * FROM job") == before


async def test_of_two_ways_to_settle_at_once_exactly_one_matches(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    """The lease keeper gives a hung run's job away at the instant at which the run gets to its end."""
    ids = [await running(database, statements, f"job {number}") for number in range(20)]

    outcomes = await asyncio.gather(
        *(asyncio.gather(*(WAYS[way](statements, job_id) for way in ("done", "failed", "pending"))) for job_id in ids)
    )

    states = {row["id"]: row["status"] for row in await owner.fetch("SELECT id, status FROM job")}
    for job_id, outcome in zip(ids, outcomes, strict=True):
        settled = [bool(one) for one in outcome]
        assert settled.count(True) == 1, outcome
        assert states[job_id] == ("done", "failed", "pending")[settled.index(True)]
