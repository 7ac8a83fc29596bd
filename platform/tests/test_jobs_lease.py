"""The lease of a run: renewed while it works, and what ends it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from jobs_lab import QUICK, SHORT, Lab, LabStep, Owner, Quick, Script, Short, begun, enqueue, make_effects, whats
from sqlalchemy import text

from service_platform.database import Database
from service_platform.jobs import Drain, JobKind, JobRunner, LeaseKeeper, keeper
from service_platform.jobs.claim import claim
from service_platform.jobs.statements import JobStatements
from world.waiting import eventually


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


async def test_it_is_renewed_while_the_work_takes_longer(database: Database, owner: Owner, runner: JobRunner) -> None:
    job_id = await enqueue(database, Script(first="await", seconds=1.5 * QUICK.lease_seconds), "a")
    work = asyncio.create_task(runner.run(QUICK.name, job_id))
    await begun(owner)
    others = 0
    while not work.done():
        others += await claim(JobStatements(database), QUICK, job_id, claimed_by="other") is not None
        await asyncio.wait([work], timeout=0.2)

    assert others == 0
    assert await owner.fetchval("SELECT (status, token)::text FROM job") == "(done,1)"


async def test_a_renewal_that_finds_another_run_cancels_the_work_quietly(
    database: Database, owner: Owner, runner: JobRunner
) -> None:
    job_id = await enqueue(database, Script(first="await", seconds=60), "a")
    work = asyncio.create_task(runner.run(QUICK.name, job_id))
    await begun(owner)
    await owner.execute("UPDATE job SET token = token + 1")

    async with asyncio.timeout(QUICK.lease_seconds + 5):
        await work

    assert await whats(owner) == ["first begins"]
    assert await owner.fetchval("SELECT (status, token, error)::text FROM job") == "(running,2,)"


async def test_while_it_works_a_run_holds_no_transaction_and_no_lock(
    database: Database, owner: Owner, root: Owner, runner: JobRunner
) -> None:
    job_id = await enqueue(database, Script(first="await", seconds=1.5 * QUICK.lease_seconds), "a")
    work = asyncio.create_task(runner.run(QUICK.name, job_id))
    await begun(owner)
    transactions = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND usename = 'platform_app' AND xact_start IS NOT NULL
    """
    locks = """
        SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory'
    """
    looks = []
    while not work.done():
        looks.append((await root.fetchval(transactions), await root.fetchval(locks)))
        await asyncio.wait([work], timeout=0.2)

    assert {held for _, held in looks} == {0}
    assert [held for held, _ in looks].count(0) > len(looks) / 2, "a renewal may be under way at a few of them"


async def test_a_request_to_cancel_ends_the_run_before_its_next_step(
    database: Database, owner: Owner, runner: JobRunner
) -> None:
    job_id = await enqueue(database, Script(first="await", seconds=0.8 * QUICK.lease_seconds), "a")
    work = asyncio.create_task(runner.run(QUICK.name, job_id))
    await begun(owner)
    assert await owner.fetchval("SELECT job_request_cancel($1, 'no longer wanted')", job_id) == "running"
    await work

    assert await whats(owner) == ["first begins", "first ends"], "what was begun is not left half done"
    assert await owner.fetchval("SELECT status FROM job") == "cancelled"


async def test_a_request_to_cancel_ends_a_step_at_a_safe_point_of_its_own(
    database: Database, owner: Owner, runner: JobRunner
) -> None:
    job_id = await enqueue(database, Script(first="safe points", seconds=60), "a")
    work = asyncio.create_task(runner.run(QUICK.name, job_id))
    await begun(owner)
    await owner.fetchval("SELECT job_request_cancel($1, 'no longer wanted')", job_id)

    async with asyncio.timeout(QUICK.lease_seconds + 5):
        await work

    assert await whats(owner) == ["first begins"]
    assert await owner.fetchval("SELECT status FROM job") == "cancelled"


async def test_a_renewal_that_errs_is_tried_again(database: Database, owner: Owner, runner: JobRunner) -> None:
    job_id = await enqueue(database, Script(first="await", seconds=2 * QUICK.lease_seconds), "a")
    work = asyncio.create_task(runner.run(QUICK.name, job_id))
    await _terminate(database, "test leases")
    await work

    assert await owner.fetchval("SELECT (status, token)::text FROM job") == "(done,1)"


async def test_no_error_of_a_renewal_ends_the_keeper(
    database: Database, owner: Owner, runner: JobRunner, leases: LeaseKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected, failed = leases._connected, []

    async def fails_once() -> Any:
        if not failed:
            failed.append("once")
            raise RuntimeError("nobody thought of this")
        return await connected()

    monkeypatch.setattr(leases, "_connected", fails_once)
    job_id = await enqueue(database, Script(first="await", seconds=2 * QUICK.lease_seconds), "a")
    await runner.run(QUICK.name, job_id)

    assert failed == ["once"]
    assert leases.is_alive()
    assert await owner.fetchval("SELECT (status, token)::text FROM job") == "(done,1)"


async def test_the_deadline_ends_a_run_and_it_counts_as_failed(
    database: Database, owner: Owner, runner: JobRunner
) -> None:
    job_id = await enqueue(database, Script(first="await", seconds=60), "a", kind=SHORT)
    async with asyncio.timeout(SHORT.deadline_seconds + 5):
        await runner.run(SHORT.name, job_id)

    error = await owner.fetchval("SELECT error FROM job WHERE status = 'failed'")
    assert error.startswith("DeadlinePassed: Ended after 1 s.\nat sleep (tasks.py:")


async def test_a_drain_gives_the_job_back_without_counting_the_claim(
    database: Database, owner: Owner, runner: JobRunner, drain: Drain
) -> None:
    job_id = await enqueue(database, Script(first="await", seconds=60), "a")
    work = asyncio.create_task(runner.run(QUICK.name, job_id))
    await begun(owner)
    drain.begin(0.1)

    async with asyncio.timeout(20):
        await work

    assert await owner.fetchval("SELECT (status, token, claims)::text FROM job") == "(pending,1,0)"


async def test_a_run_that_blocks_its_loop_keeps_its_lease_until_the_deadline_and_then_loses_its_process(
    *,
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
    await begun(owner)
    kept = time.monotonic()
    await eventually(lambda: owner.fetchval("SELECT status = 'failed' FROM job"), what="the keeper gave the job away")

    assert time.monotonic() - kept > 1.5 * long.lease_seconds, "the lease was not renewed while the loop was blocked"
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

    async def cut() -> int:
        async with database.read() as session:
            return int(await session.scalar(terminate, {"name": application_name}) or 0)

    await eventually(cut, what=f"there is a connection of {application_name}")
