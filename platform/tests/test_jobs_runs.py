"""A run in one process: its fence, its run key, and its steps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from jobs_lab import QUICK, Lab, LabStep, Owner, Quick, Script, enqueue, make_effects, shift_clock, whats
from sqlalchemy import text

from service_platform.database import Database
from service_platform.jobs import Fence, JobFencedOut, JobKind, JobRun, JobRunner, Lease, RunKey
from service_platform.jobs.claim import claim
from service_platform.jobs.run import CLAIMED, ClaimProof
from service_platform.jobs.statements import JobStatements
from world.waiting import eventually


@pytest.fixture(autouse=True)
async def effects(owner: Owner) -> None:
    await make_effects(owner, "platform_app")


@pytest.fixture
def runner(database: Database) -> JobRunner:
    lab = Lab(database)
    return JobRunner(database, [Quick([LabStep(lab, "first"), LabStep(lab, "second")])], leases=NoLeases())


class NoLeases:
    """Renews nothing: these runs are short."""

    def watch(self, lease: Lease) -> None:
        pass


async def run_of(database: Database, job_id: UUID, step: str = "first") -> JobRun[Script]:
    """Claim `job_id` and stand at `step`."""
    job = await claim(JobStatements(database), QUICK, job_id, claimed_by="me")
    assert job is not None, "the claim matched nothing"
    return job.at_step(step, Script())


class TestRunKeyAndFence:
    async def test_a_run_key_names_job_step_and_token(self, database: Database) -> None:
        job_id = await enqueue(database, Script(), "a")
        run = await run_of(database, job_id)

        assert str(run.key("first")) == f"{job_id}:first:1"

    async def test_only_a_claim_makes_them(self, database: Database) -> None:
        run = await run_of(database, await enqueue(database, Script(), "a"))
        forged: list[Callable[[], object]] = [
            lambda: RunKey(ClaimProof(), job_id=uuid4(), step="first", token=1),
            lambda: Fence(ClaimProof(), job_id=uuid4(), step="first", token=1, lease_seconds=1),
            lambda: replace(run.key("first"), token=2),
            lambda: replace(run.fence("first"), token=2),
            lambda: replace(run, token=2),
            lambda: replace(run.key("first"), token=2, proof=ClaimProof()),
        ]
        for forge in forged:
            with pytest.raises((TypeError, ValueError)):
                forge()
        with pytest.raises(AttributeError):
            run.key("first").token = 2  # type: ignore[misc]

    async def test_a_stored_key_of_this_or_an_earlier_run_of_the_step_can_be_sent_again_and_no_other(
        self, database: Database
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        first = (await run_of(database, job_id)).key("first")
        key = replace(first, token=3, proof=CLAIMED)

        assert key.earlier(str(first)) == first
        assert key.earlier(str(key)) == key
        for other in (
            f"{job_id}:first:4",
            f"{job_id}:first:0",
            f"{job_id}:second:1",
            f"{uuid4()}:first:1",
            f"{job_id}:first:x",
            "",
        ):
            with pytest.raises(ValueError, match="no key of this run"):
                key.earlier(other)

    async def test_a_step_uses_its_own_name_only(self, database: Database) -> None:
        run = await run_of(database, await enqueue(database, Script(), "a"))

        for use in (run.fence, run.key):
            with pytest.raises(ValueError, match="at step 'first', not 'second'"):
                use("second")

    async def test_a_stale_run_is_refused_before_its_transaction_does_anything(
        self, database: Database, owner: Owner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        stale = await run_of(database, job_id)
        await shift_clock(owner, QUICK.lease_seconds + 1)
        current = await run_of(database, job_id)

        with pytest.raises(JobFencedOut):
            async with database.transaction(claim=stale.fence("first")):
                pytest.fail("the block ran without its claim")
        async with database.transaction(claim=current.fence("first")) as tx:
            await tx.session.execute(text("INSERT INTO effect (what) VALUES ('current')"))
        async with database.transaction(claim=current.fence("first")) as tx:
            await tx.session.execute(text("INSERT INTO effect (what) VALUES ('current again')"))

        assert await whats(owner) == ["current", "current again"]

    async def test_fence_and_effect_change_in_one_transaction(self, database: Database, owner: Owner) -> None:
        run = await run_of(database, await enqueue(database, Script(), "a"))

        with pytest.raises(RuntimeError):
            async with database.transaction(claim=run.fence("first")):
                raise RuntimeError("rolled back on purpose")

        assert await owner.fetchval("SELECT current_step FROM job") is None

    async def test_a_take_over_waits_for_a_fenced_transaction_and_then_sees_the_lease_it_extended(
        self, database: Database, owner: Owner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        run = await run_of(database, job_id)
        await owner.execute("UPDATE job SET lease_expires_at = clock_timestamp() - interval '1 second'")

        async with database.transaction(claim=run.fence("first")):
            taking = asyncio.create_task(claim(JobStatements(database), QUICK, job_id, claimed_by="other"))
            await asyncio.wait([taking], timeout=0.3)
            assert not taking.done()

        assert await taking is None


class TestSteps:
    async def test_they_run_in_order_under_one_token_and_the_job_is_done(
        self, database: Database, owner: Owner, runner: JobRunner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await runner.run(QUICK.name, job_id)
        await runner.run(QUICK.name, job_id)

        assert await whats(owner) == ["first begins", "first ends", "second begins", "second ends"]
        assert await owner.fetchval("SELECT array_agg(DISTINCT run_key ORDER BY run_key) FROM effect") == [
            f"{job_id}:first:1",
            f"{job_id}:second:1",
        ]
        assert await owner.fetchval("SELECT status FROM job") == "done"

    async def test_a_failed_job_starts_again_at_its_current_step(
        self, database: Database, owner: Owner, runner: JobRunner
    ) -> None:
        job_id = await enqueue(database, Script(second="raise"), "a")
        for _ in range(2):
            await runner.run(QUICK.name, job_id)
            await eventually(
                lambda: owner.fetchval("SELECT run_after <= clock_timestamp() FROM job"), what="the pause is over"
            )

        assert await whats(owner) == ["first begins", "first ends", "second begins", "second begins"]
        job = await owner.fetchrow("SELECT status, claims, error, current_step FROM job")
        assert job is not None
        assert (job["status"], job["claims"], job["current_step"]) == ("failed", 2, "second")
        assert job["error"].startswith(
            "ValueError: the script says so: \N{REPLACEMENT CHARACTER}\nat run (jobs_lab.py:"
        )

    async def test_a_step_that_needs_review_leaves_the_job_to_a_person_with_its_reason(
        self, database: Database, owner: Owner, runner: JobRunner
    ) -> None:
        job_id = await enqueue(database, Script(second="review"), "a")
        for _ in range(2):
            await runner.run(QUICK.name, job_id)

        assert await whats(owner) == ["first begins", "first ends", "second begins"]
        job = await owner.fetchrow("SELECT status, token, review_reason FROM job")
        assert job is not None
        assert tuple(job) == ("needs_review", 1, "the script says so: \N{REPLACEMENT CHARACTER}")

    async def test_a_job_that_stands_at_a_step_that_is_gone_fails_and_says_so(
        self, database: Database, owner: Owner, runner: JobRunner
    ) -> None:
        job_id = await enqueue(database, Script(), "a")
        await owner.execute("UPDATE job SET current_step = 'zeroth'")
        await runner.run(QUICK.name, job_id)

        assert "stands at step 'zeroth'" in await owner.fetchval("SELECT error FROM job WHERE status = 'failed'")

    async def test_a_kind_that_this_worker_does_not_know_is_left_for_one_that_does(
        self, database: Database, owner: Owner, runner: JobRunner
    ) -> None:
        job_id = await enqueue(database, Script(), "a", kind=JobKind(name="lab.newer", payload=Script))
        await runner.run("lab.newer", job_id)

        assert await owner.fetchval("SELECT (status, token)::text FROM job") == "(pending,0)"
