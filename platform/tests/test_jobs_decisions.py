"""Jobs that do not end by themselves: cancelled, set aside for a person, tried again, resolved, purged."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from jobs_lab import QUICK, Owner, Script, enqueue, hints, shift_clock

from service_platform.database import Database
from service_platform.jobs import purge_jobs
from service_platform.jobs.statements import JobStatements

LEASE_SECONDS = 30


@pytest.fixture
def statements(database: Database) -> JobStatements:
    return JobStatements(database)


async def purged(database: Database, older_than: timedelta, rows: int = 1000) -> int:
    """Purge once; how many jobs went."""
    async with database.transaction() as tx:
        return await purge_jobs(tx, older_than=older_than, rows=rows)


async def claimed(statements: JobStatements, job_id: UUID, max_claims: int = 3) -> tuple[str, int] | None:
    """What a claim finds: the status and the token."""
    row = await statements.claim(
        job_id, kind=QUICK.name, claimed_by="me", lease_seconds=LEASE_SECONDS, max_claims=max_claims, max_silent_runs=3
    )
    return None if row is None else (row.status, row.token)


async def asked_to_cancel(database: Database, job_id: UUID) -> str | None:
    async with database.autocommit() as driver:
        status: str | None = await driver.fetchval("SELECT job_request_cancel($1, 'no longer wanted')", job_id)
    return status


async def seen(owner: Owner, columns: str, job_id: UUID) -> tuple[object, ...]:
    row = await owner.fetchrow(f"SELECT {columns} FROM job WHERE id = $1", job_id)
    assert row is not None
    return tuple(row)


class TestCancel:
    @pytest.mark.parametrize("failed_before", [False, True])
    async def test_a_job_that_waits_is_cancelled_at_once_and_for_good(
        self, database: Database, statements: JobStatements, owner: Owner, failed_before: bool
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        if failed_before:
            await claimed(statements, job_id)
            await statements.fail(job_id, expected_token=1, error="no", retry_in_seconds=0, max_claims=3)

        assert await asked_to_cancel(database, job_id) == "cancelled"

        assert await claimed(statements, job_id) is None
        await shift_clock(owner, 3600)
        assert await statements.sweep(limit=10, resend_after_seconds=1) == 0
        assert await seen(owner, "status, resolution", job_id) == ("cancelled", "no longer wanted")

    async def test_a_run_hears_of_it_at_its_renewal_and_ends_the_job_itself(
        self, database: Database, statements: JobStatements, owner: Owner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await claimed(statements, job_id)
        renew = "SELECT job_renew($1, 1, 30)"
        assert await owner.fetchval(renew, job_id) == "held"
        assert not await statements.cancel(job_id, expected_token=1), "nobody asked"

        assert await asked_to_cancel(database, job_id) == "running"

        assert await owner.fetchval("SELECT job_advance($1, 'first', 1, 30)", job_id), "it may end what it began"
        assert await owner.fetchval(renew, job_id) == "cancel"
        assert not await statements.cancel(job_id, expected_token=2)
        assert await statements.cancel(job_id, expected_token=1)
        assert await seen(owner, "status", job_id) == ("cancelled",)
        assert await claimed(statements, job_id) is None

    @pytest.mark.parametrize("end", ["fails", "dies", "hands back", "loses its lease"])
    async def test_a_run_that_ends_early_after_the_request_leaves_a_cancelled_job(
        self, database: Database, statements: JobStatements, owner: Owner, end: str
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await claimed(statements, job_id)
        await asked_to_cancel(database, job_id)

        match end:
            case "fails" | "dies":
                most = 3 if end == "fails" else 1
                status = await statements.fail(
                    job_id, expected_token=1, error="no", retry_in_seconds=0, max_claims=most
                )
                assert status == "cancelled"
            case "hands back":
                assert await statements.release(job_id, expected_token=1) == "cancelled"
            case _:
                await shift_clock(owner, LEASE_SECONDS + 1)
                assert await statements.sweep(limit=10, resend_after_seconds=1) == 1
                assert await claimed(statements, job_id) == ("cancelled", 2)
                assert not await owner.fetchval("SELECT job_advance($1, 'first', 1, 30)", job_id)

        assert await seen(owner, "status, cancel_requested_at IS NULL", job_id) == ("cancelled", False)
        assert await claimed(statements, job_id) is None

    async def test_a_run_that_gets_to_its_end_after_the_request_is_done(
        self, database: Database, statements: JobStatements, owner: Owner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await claimed(statements, job_id)
        await asked_to_cancel(database, job_id)

        assert await statements.complete(job_id, expected_token=1)
        assert await seen(owner, "status", job_id) == ("done",)

    async def test_a_job_whose_run_lost_its_lease_is_cancelled_at_once_and_the_run_is_fenced_out(
        self, database: Database, statements: JobStatements, owner: Owner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await claimed(statements, job_id)
        await shift_clock(owner, LEASE_SECONDS + 1)

        assert await asked_to_cancel(database, job_id) == "cancelled"
        assert not await owner.fetchval("SELECT job_advance($1, 'first', 1, 30)", job_id)

    async def test_a_finished_job_and_one_that_is_not_there_refuse_it(
        self, database: Database, statements: JobStatements, owner: Owner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await claimed(statements, job_id)
        await statements.complete(job_id, expected_token=1)
        before = await owner.fetchrow("SELECT * FROM job")

        assert await asked_to_cancel(database, job_id) is None
        assert await asked_to_cancel(database, UUID(int=1)) is None
        assert await owner.fetchrow("SELECT * FROM job") == before

    async def test_of_a_cancel_and_a_claim_at_once_the_second_sees_what_the_first_did(
        self, database: Database, statements: JobStatements, owner: Owner
    ) -> None:
        ids = [await enqueue(database, Script(), f"job {number}") for number in range(30)]

        outcomes = await asyncio.gather(
            *(asyncio.gather(asked_to_cancel(database, job_id), claimed(statements, job_id)) for job_id in ids)
        )

        for job_id, outcome in zip(ids, outcomes, strict=True):
            assert tuple(outcome) in {("cancelled", None), ("running", ("running", 1))}
            assert await seen(owner, "status", job_id) == (outcome[0],)


class TestReview:
    async def test_it_waits_for_a_person_and_nothing_claims_sweeps_or_purges_it(
        self, database: Database, statements: JobStatements, owner: Owner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await claimed(statements, job_id)
        assert not await statements.review(job_id, expected_token=2, reason="not ours")

        assert await statements.review(job_id, expected_token=1, reason="the provider has no such refund")

        await shift_clock(owner, 400 * 86_400)
        assert await claimed(statements, job_id) is None
        assert await statements.sweep(limit=10, resend_after_seconds=1) == 0
        assert await purged(database, timedelta(days=1)) == 0
        assert await seen(owner, "status, review_reason", job_id) == ("needs_review", "the provider has no such refund")

    async def test_a_request_to_cancel_does_not_hide_it(
        self, database: Database, statements: JobStatements, owner: Owner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await claimed(statements, job_id)
        await asked_to_cancel(database, job_id)
        await statements.review(job_id, expected_token=1, reason="who knows")

        assert await asked_to_cancel(database, job_id) is None
        assert await seen(owner, "status", job_id) == ("needs_review",)


async def ended_as(statements: JobStatements, job_id: UUID, status: str) -> None:
    """Claim the job and end the run so that the job has `status`."""
    assert await claimed(statements, job_id) is not None
    match status:
        case "needs_review":
            await statements.review(job_id, expected_token=1, reason="who knows")
        case "done":
            await statements.complete(job_id, expected_token=1)
        case _:
            most = 1 if status == "dead" else 3
            await statements.fail(job_id, expected_token=1, error="no", retry_in_seconds=3600, max_claims=most)


class TestRetry:
    @pytest.mark.parametrize("status", ["failed", "dead", "needs_review"])
    async def test_it_gives_all_claims_again_at_once_and_the_token_goes_on(
        self, database: Database, statements: JobStatements, owner: Owner, status: str
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await ended_as(statements, job_id, status)

        assert await owner.fetchval("SELECT job_retry($1)", job_id)

        assert await seen(owner, "status, claims, token, finished_at", job_id) == ("pending", 0, 1, None)
        assert await statements.sweep(limit=10, resend_after_seconds=1) == 1, "it is sent at once"
        assert await hints(owner, job_id) == 2
        assert await claimed(statements, job_id, max_claims=1) == ("running", 2)
        assert not await statements.complete(job_id, expected_token=1), "a run of before is fenced out"

    @pytest.mark.parametrize("status", ["pending", "running", "done", "cancelled"])
    async def test_it_is_refused_for_every_other(
        self, database: Database, statements: JobStatements, owner: Owner, status: str
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        match status:
            case "running":
                await claimed(statements, job_id)
            case "done":
                await ended_as(statements, job_id, "done")
            case "cancelled":
                await asked_to_cancel(database, job_id)
        before = await owner.fetchrow("SELECT * FROM job")

        assert not await owner.fetchval("SELECT job_retry($1)", job_id)
        assert await owner.fetchrow("SELECT * FROM job") == before


class TestResolve:
    @pytest.mark.parametrize("status", ["dead", "needs_review"])
    @pytest.mark.parametrize("to_status", ["done", "cancelled"])
    async def test_a_person_ends_what_no_machine_could(
        self, database: Database, statements: JobStatements, owner: Owner, status: str, to_status: str
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await ended_as(statements, job_id, status)

        assert await owner.fetchval("SELECT job_resolve($1, $2, 'refunded by hand')", job_id, to_status)

        assert await seen(owner, "status, resolution", job_id) == (to_status, "refunded by hand")
        assert not await owner.fetchval("SELECT job_resolve($1, $2, 'again')", job_id, to_status)
        assert not await owner.fetchval("SELECT job_retry($1)", job_id)

    @pytest.mark.parametrize("status", ["failed", "done"])
    async def test_it_is_refused_for_a_job_that_a_machine_decides(
        self, database: Database, statements: JobStatements, owner: Owner, status: str
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await ended_as(statements, job_id, status)

        assert not await owner.fetchval("SELECT job_resolve($1, 'done', 'because')", job_id)
        with pytest.raises(asyncpg.InvalidParameterValueError):
            await owner.fetchval("SELECT job_resolve($1, 'running', 'because')", job_id)


class TestPurge:
    async def test_only_what_is_done_or_cancelled_long_ago_goes(
        self, database: Database, statements: JobStatements, owner: Owner
    ) -> None:
        ids = {name: await enqueue(database, Script(), name) for name in ("pending", "running", "cancelled")}
        await claimed(statements, ids["running"])
        await asked_to_cancel(database, ids["cancelled"])
        for name in ("done", "failed", "dead", "needs_review"):
            ids[name] = await enqueue(database, Script(), name)
            await ended_as(statements, ids[name], name)
        await shift_clock(owner, 86_400)
        ids["done today"] = await enqueue(database, Script(), "done today")
        await ended_as(statements, ids["done today"], "done")

        assert await purged(database, timedelta(hours=12)) == 2

        kept = {row["job_key"] for row in await owner.fetch("SELECT job_key FROM job")}
        assert kept == ids.keys() - {"done", "cancelled"}

    async def test_it_goes_in_bounded_batches_side_by_side(
        self, database: Database, statements: JobStatements, owner: Owner
    ) -> None:
        for number in range(25):
            await ended_as(statements, await enqueue(database, Script(), f"job {number}"), "done")
        await shift_clock(owner, 60)

        went = [await purged(database, timedelta(seconds=1), rows=4)]
        went += await asyncio.gather(*(purged(database, timedelta(seconds=1), rows=4) for _ in range(5)))
        went += [await purged(database, timedelta(seconds=1), rows=4) for _ in range(7)]

        assert max(went) == went[0] == 4
        assert sum(went) == 25
        assert await owner.fetchval("SELECT count(*) FROM job") == 0
