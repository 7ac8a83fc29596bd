"""Real workers in front of a real broker: stopped, killed, drained, and robbed of their queue."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import psutil
import pytest
from celery import Celery
from celery.worker import state
from jobs_lab import BRIEF, ENDLESS, QUICK, Owner, Script, enqueue, make_effects
from jobs_world import Worker, World

from service_platform.database import Database
from service_platform.jobs import Broker, DeadlineBeyondVisibility, consuming
from world.waiting import eventually

BEGUN = "SELECT count(*) >= 1 FROM effect WHERE job_id = $1 AND what = 'first begins'"
DONE = "SELECT status = 'done' FROM job WHERE id = $1"


@pytest.fixture
async def world(database: Database, owner: Owner, tmp_path: Path) -> AsyncIterator[World]:
    await make_effects(owner, "platform_app")
    with World(tmp_path, database) as world:
        yield world


async def reached(owner: Owner, query: str, job_id: UUID) -> None:
    """Wait until `query` about a job is true."""
    try:
        await eventually(lambda: owner.fetchval(query, job_id), what=query, within=30, every=0.05)
    except AssertionError as error:
        error.add_note(str(await owner.fetch("SELECT kind, status, token, claims, resend_at, error FROM job")))
        raise


async def seen(condition: Callable[[], bool], what: str) -> None:
    """Wait until `condition` holds."""
    await eventually(condition, what=what, within=20, every=0.05)


async def effects(owner: Owner, job_id: UUID) -> list[tuple[str, str]]:
    """What a job left behind: what, and the run key's token."""
    rows = await owner.fetch("SELECT what, run_key FROM effect WHERE job_id = $1 ORDER BY id", job_id)
    return [(row["what"], row["run_key"].rpartition(":")[2]) for row in rows]


def whole_run(token: int) -> list[tuple[str, str]]:
    return [(what, str(token)) for what in ("first begins", "first ends", "second begins", "second ends")]


async def test_a_stopped_worker_is_overtaken_and_fenced_out_when_it_resumes(
    world: World, database: Database, owner: Owner
) -> None:
    async with world.dispatching():
        zombie = await asyncio.to_thread(world.worker)
        job_id = await enqueue(database, Script(first="await", seconds=1), "a")
        await reached(owner, BEGUN, job_id)
        zombie.tree(signal.SIGSTOP)

        await asyncio.to_thread(world.worker)
        await reached(owner, DONE, job_id)
        zombie.tree(signal.SIGCONT)
        await seen(lambda: "jobs.job.fenced_out" in zombie.log.read_text(), "the zombie was fenced out")

    assert await effects(owner, job_id) == [("first begins", "1"), *whole_run(2)]
    assert await owner.fetchval("SELECT (status, token)::text FROM job") == "(done,2)"


async def test_a_killed_childs_job_runs_again_once_and_a_killed_parent_takes_its_children_along(
    world: World, database: Database, owner: Owner
) -> None:
    async with world.dispatching():
        worker = await asyncio.to_thread(world.worker)
        first = await enqueue(database, Script(first="await", seconds=1), "child killed")
        await reached(owner, BEGUN, first)
        os.kill(worker.children[0], signal.SIGKILL)
        await reached(owner, DONE, first)

        second = await enqueue(database, Script(first="await", seconds=1), "parent killed")
        await reached(owner, BEGUN, second)
        orphans = worker.children
        worker.process.kill()
        await seen(lambda: not any(_alive(pid) for pid in orphans), "the children ended with their parent")
        await asyncio.to_thread(world.worker)
        await reached(owner, DONE, second)

    for job_id in (first, second):
        assert await effects(owner, job_id) == [("first begins", "1"), *whole_run(2)]


def _alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


async def test_a_job_that_kills_its_worker_is_dead_at_its_limit_and_others_run_on(
    world: World, database: Database, owner: Owner
) -> None:
    async with world.dispatching():
        await asyncio.to_thread(world.worker)
        poison = await enqueue(database, Script(first="exit"), "poison", kind=BRIEF)
        await reached(owner, "SELECT status = 'dead' FROM job WHERE id = $1", poison)
        healthy = await enqueue(database, Script(), "healthy")
        await reached(owner, DONE, healthy)

    assert await effects(owner, poison) == [("first begins", str(token)) for token in (1, 2, 3)]
    error = await owner.fetchval("SELECT error FROM job WHERE id = $1", poison)
    assert "Claimed 3 times; 3 in a row ended without a word" in error


async def test_a_blocking_job_longer_than_its_lease_and_the_visibility_timeout_runs_once(
    world: World, database: Database, owner: Owner
) -> None:
    async with world.dispatching():
        workers = [await asyncio.to_thread(world.worker, LAB_VISIBILITY="1") for _ in range(2)]
        job_id = await enqueue(database, Script(first="block", seconds=2 * QUICK.lease_seconds), "a")
        await reached(owner, DONE, job_id)

        assert await effects(owner, job_id) == whole_run(1)
        assert any("jobs.job.not_claimed" in worker.log.read_text() for worker in workers), (
            "the broker was to deliver the message a second time"
        )


async def test_an_emptied_broker_loses_no_job_and_runs_none_twice(
    world: World, database: Database, owner: Owner
) -> None:
    async with world.dispatching():
        ids = [await enqueue(database, Script(), f"queued {number}") for number in range(4)]
        with world.valkey.client() as client:
            await seen(lambda: client.llen("lab:lab.jobs") == 4, "the hints lie in the queue")
        world.valkey.flush()
        worker = await asyncio.to_thread(world.worker)
        ids.append(await enqueue(database, Script(first="await", seconds=2), "running"))
        await reached(owner, BEGUN, ids[-1])
        with world.valkey.client() as client:
            keys = client.keys("*")
        assert "lab:unacked" in keys
        assert all(key.startswith("lab:") for key in keys), "what belongs to a service lies under its prefix"
        world.valkey.flush()
        ids.append(await enqueue(database, Script(), "after"))
        for job_id in ids:
            await reached(owner, DONE, job_id)

    for job_id in ids:
        assert await effects(owner, job_id) == whole_run(1)
    assert await owner.fetchval("SELECT count(DISTINCT pid) FROM effect") == 1, "one child ran them all"
    assert '"level":"error"' not in worker.log.read_text()


async def test_a_worker_consumes_again_after_the_broker_was_killed_and_after_its_connections_were_cut(
    world: World, database: Database, owner: Owner
) -> None:
    async with world.dispatching():
        worker = await asyncio.to_thread(world.worker)
        ids = [await enqueue(database, Script(first="await", seconds=2), "running")]
        await reached(owner, BEGUN, ids[0])
        world.valkey.kill()
        ids.append(await enqueue(database, Script(), "while it is away"))
        await seen(lambda: not worker.is_ready, "the heartbeat tells of the outage")
        await asyncio.to_thread(world.valkey.start)
        for job_id in ids:
            await reached(owner, DONE, job_id)
        await seen(lambda: worker.is_ready, "the heartbeat tells that it is over")

        world.valkey.cut_clients()
        ids.append(await enqueue(database, Script(first="await", seconds=2), "after the cut"))
        await reached(owner, BEGUN, ids[-1])
        world.valkey.kill()
        await asyncio.to_thread(world.valkey.start)
        ids.append(await enqueue(database, Script(), "back before the job under way was acknowledged"))
        await reached(owner, DONE, ids[-1])

    for job_id in ids:
        assert await effects(owner, job_id) == whole_run(1)


async def test_sigterm_lets_running_jobs_end_and_gives_back_what_does_not(
    world: World, database: Database, owner: Owner
) -> None:
    async with world.dispatching():
        worker = await asyncio.to_thread(world.worker, LAB_DRAIN="2", WORKER_CONCURRENCY="2")
        ends = await enqueue(database, Script(first="await", seconds=1), "ends")
        lasts = await enqueue(database, Script(first="await", seconds=60), "lasts")
        for job_id in (ends, lasts):
            await reached(owner, BEGUN, job_id)
        waits = await enqueue(database, Script(), "waits")
        begun = time.monotonic()
        worker.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(worker.process.wait, 20) == 0
        assert time.monotonic() - begun < 12

    assert await effects(owner, ends) == whole_run(1)
    assert await owner.fetchval("SELECT (status, token, claims)::text FROM job WHERE id = $1", lasts) == "(pending,1,0)"
    assert await owner.fetchval("SELECT (status, token)::text FROM job WHERE id = $1", waits) == "(pending,0)"
    assert not worker.health.exists()


def test_a_deadline_beyond_the_visibility_timeout_is_refused() -> None:
    broker = Broker("lab", "redis://nowhere", visibility_timeout_seconds=120)

    broker.check([QUICK])
    with pytest.raises(DeadlineBeyondVisibility, match=r"lab\.endless may run 3600 s"):
        broker.check([QUICK, ENDLESS])


async def test_a_worker_with_such_a_kind_does_not_start(world: World, database: Database, tmp_path: Path) -> None:
    worker = Worker(tmp_path, "endless", database.address, world.valkey, LAB_ENDLESS="1")
    world.workers.append(worker)

    assert await asyncio.to_thread(worker.process.wait, 30) != 0
    assert "DeadlineBeyondVisibility" in worker.log.read_text()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(consuming.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(state, "all_total_count", [0])
    monkeypatch.setattr(state, "should_stop", None)
    return now


def _consumer(waiting: int) -> Any:
    channel = SimpleNamespace(queue_declare=lambda _queue: SimpleNamespace(message_count=waiting))
    return SimpleNamespace(pool=SimpleNamespace(num_processes=2), connection=SimpleNamespace(default_channel=channel))


def test_a_worker_that_is_deaf_to_its_queue_connects_anew_is_not_ready_and_then_stops(
    clock: list[float], tmp_path: Path
) -> None:
    probe = consuming.ConsumingProbe("lab.jobs", tmp_path / "health.json")

    def beat(waiting: int) -> bool:
        clock[0] += 1
        with contextlib.suppress(ConnectionResetError):
            probe.beat(_consumer(waiting))
            return True
        probe.connected()
        return False

    def is_ready() -> bool:
        return '"ready": true' in (tmp_path / "health.json").read_text()

    assert all(beat(waiting=0) for _ in range(60)), "an empty queue is no reason"
    assert [beat(waiting=3) for _ in range(12)] == [True] * 4 + [False] + [True] * 4 + [False] + [True] * 2
    assert not is_ready()
    state.all_total_count[0] += 1
    assert beat(waiting=3), "it takes messages again"
    assert is_ready()
    assert state.should_stop is None
    for _ in range(31):
        beat(waiting=3)
    assert state.should_stop


def test_a_worker_whose_broker_goes_while_it_starts_stops_what_has_not_begun(tmp_path: Path) -> None:
    app, before = Celery("lab"), set(Celery("lab").steps["consumer"])
    consuming.install(app, consuming.ConsumingProbe("lab.jobs", tmp_path / "health.json"))
    (pulse,) = app.steps["consumer"] - before
    pulse(_consumer(waiting=0)).stop(_consumer(waiting=0))
