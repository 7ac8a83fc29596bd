"""A run in one process: its fence and run key, its steps, its lease, and how it ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias
from uuid import UUID, uuid4

import asyncpg
import pytest
from jobs_lab import QUICK, SHORT, Lab, LabStep, Quick, Script, Short, enqueue, make_effects
from sqlalchemy import text

from service_platform.database import Database
from service_platform.jobs import Drain, Fence, JobFencedOut, JobKind, JobRun, JobRunner, LeaseKeeper, RunKey, keeper
from service_platform.jobs.claim import claim
from service_platform.jobs.run import ClaimProof
from service_platform.jobs.statements import JobStatements

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@pytest.fixture(autouse=True)
async def effects(owner: Owner) -> None:
    await make_effects(owner, "platform_app")


@pytest.fixture
def drain() -> Drain:
    return Drain()


@pytest.fixture
def ended() -> list[int]:
    """The exit codes with which the keeper wanted to end the process."""
    return []


@pytest.fixture
def leases(database: Database, drain: Drain, ended: list[int]) -> Iterator[LeaseKeeper]:
    keeper = LeaseKeeper(database.address, application_name="test", drain=drain, end_process=ended.append)
    keeper.start()
    yield keeper
    keeper.stop()


@pytest.fixture
def runner(database: Database, leases: LeaseKeeper) -> JobRunner:
    lab = Lab(database)
    steps = [LabStep(lab, "first"), LabStep(lab, "second")]
    return JobRunner(database, [Quick(steps), Short(steps)], leases=leases)


async def run_of(database: Database, job_id: UUID, step: str = "first") -> JobRun[Script]:
    """Claim `job_id` and stand at `step`."""
    job = await claim(JobStatements(database), QUICK, job_id, claimed_by="me")
    assert job is not None, "the claim matched nothing"
    return job.at_step(step, Script())


async def whats(owner: Owner) -> list[str]:
    return [row["what"] for row in await owner.fetch("SELECT what FROM effect ORDER BY id")]


async def eventually(owner: Owner, query: str, because: str, seconds: float = 10) -> None:
    """Wait until `query` is true."""
    async with asyncio.timeout(seconds):
        while not await owner.fetchval(query):  # noqa: ASYNC110 - the database sets no event here
            await asyncio.sleep(0.02)
    assert await owner.fetchval(query), because


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
        await owner.execute("SELECT platform_clock_set($1, 1)", timedelta(seconds=QUICK.lease_seconds + 1))
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
            await eventually(owner, "SELECT run_after <= clock_timestamp() FROM job", "the pause is over")

        assert await whats(owner) == ["first begins", "first ends", "second begins", "second begins"]
        job = await owner.fetchrow("SELECT status, claims, error, current_step FROM job")
        assert job is not None
        assert (job["status"], job["claims"], job["current_step"]) == ("failed", 2, "second")
        assert job["error"].startswith(
            "ValueError: the script says so: \N{REPLACEMENT CHARACTER}\nat run (jobs_lab.py:"
        )

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


class TestLease:
    async def test_it_is_renewed_while_the_work_takes_longer(
        self, database: Database, owner: Owner, runner: JobRunner
    ) -> None:
        job_id = await enqueue(database, Script(first="await", seconds=1.5 * QUICK.lease_seconds), "a")
        work = asyncio.create_task(runner.run(QUICK.name, job_id))
        await eventually(owner, "SELECT count(*) = 1 FROM effect", "the step has begun")
        others = 0
        while not work.done():
            others += await claim(JobStatements(database), QUICK, job_id, claimed_by="other") is not None
            await asyncio.wait([work], timeout=0.2)

        assert others == 0
        assert await owner.fetchval("SELECT (status, token)::text FROM job") == "(done,1)"

    async def test_a_renewal_that_finds_another_run_cancels_the_work_quietly(
        self, database: Database, owner: Owner, runner: JobRunner
    ) -> None:
        job_id = await enqueue(database, Script(first="await", seconds=60), "a")
        work = asyncio.create_task(runner.run(QUICK.name, job_id))
        await eventually(owner, "SELECT count(*) = 1 FROM effect", "the step has begun")
        await owner.execute("UPDATE job SET token = token + 1")

        async with asyncio.timeout(QUICK.lease_seconds + 5):
            await work

        assert await whats(owner) == ["first begins"]
        assert await owner.fetchval("SELECT (status, token, error)::text FROM job") == "(running,2,)"

    async def test_a_renewal_that_errs_is_tried_again(
        self, database: Database, owner: Owner, runner: JobRunner
    ) -> None:
        job_id = await enqueue(database, Script(first="await", seconds=2 * QUICK.lease_seconds), "a")
        work = asyncio.create_task(runner.run(QUICK.name, job_id))
        await _terminate(database, "test leases")
        await work

        assert await owner.fetchval("SELECT (status, token)::text FROM job") == "(done,1)"

    async def test_the_deadline_ends_a_run_and_it_counts_as_failed(
        self, database: Database, owner: Owner, runner: JobRunner
    ) -> None:
        job_id = await enqueue(database, Script(first="await", seconds=60), "a", kind=SHORT)
        async with asyncio.timeout(SHORT.deadline_seconds + 5):
            await runner.run(SHORT.name, job_id)

        error = await owner.fetchval("SELECT error FROM job WHERE status = 'failed'")
        assert error.startswith("DeadlinePassed: Ended after 1 s.\nat sleep (tasks.py:")

    async def test_a_drain_gives_the_job_back_without_counting_the_claim(
        self, database: Database, owner: Owner, runner: JobRunner, drain: Drain
    ) -> None:
        job_id = await enqueue(database, Script(first="await", seconds=60), "a")
        work = asyncio.create_task(runner.run(QUICK.name, job_id))
        await eventually(owner, "SELECT count(*) = 1 FROM effect", "the step has begun")
        drain.begin(0.1)

        async with asyncio.timeout(5):
            await work

        assert await owner.fetchval("SELECT (status, token, claims)::text FROM job") == "(pending,1,0)"

    async def test_a_run_that_blocks_its_loop_keeps_its_lease_until_the_deadline_and_then_loses_its_process(
        self,
        database: Database,
        owner: Owner,
        leases: LeaseKeeper,
        ended: list[int],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(keeper, "GRACE_SECONDS", 0.2)
        long = replace(SHORT, lease_seconds=1.0, deadline_seconds=2.0)
        job_id = await enqueue(database, Script(first="block", seconds=4), "a", kind=long)

        def work() -> None:
            asyncio.run(_work(database, long, job_id, leases))

        thread = threading.Thread(target=work)
        thread.start()
        await eventually(owner, "SELECT count(*) = 1 FROM effect", "the step has begun")
        kept = time.monotonic()
        await eventually(owner, "SELECT status = 'failed' FROM job", "the keeper gave the job away")

        assert time.monotonic() - kept > 1.5 * long.lease_seconds, (
            "the lease was not renewed while the loop was blocked"
        )
        assert await owner.fetchval("SELECT token FROM job") == 1
        await asyncio.to_thread(thread.join)
        assert ended[:1] == [keeper.EXIT_HUNG]
        assert await whats(owner) == ["first begins"], "after the block, the fence refused the rest"


async def _work(database: Database, kind: JobKind[Script], job_id: UUID, leases: LeaseKeeper) -> None:
    own = Database(database.address, application_name="blocked", pool_size=2)

    class Long(Short):
        pass

    Long.kind = kind
    await JobRunner(own, [Long([LabStep(Lab(own), "first")])], leases=leases).run(kind.name, job_id)
    await own.close()


async def _terminate(database: Database, application_name: str) -> None:
    """Cut the connection of that name, as soon as there is one."""
    terminate = text(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = :name"
    )
    cut = 0
    async with asyncio.timeout(10):
        while not cut:
            async with database.read() as session:
                cut = await session.scalar(terminate, {"name": application_name}) or 0
            await asyncio.sleep(0.02)
