"""Hints that no worker ever sees, and jobs that run all the same."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from jobs_lab import NEWER, Owner, Script, enqueue, hints, make_effects, whats
from jobs_world import Worker, World, until

from service_platform.database import Database
from world.waiting import eventually

QUEUE = "lab:lab.jobs"
DONE = "SELECT status = 'done' FROM job WHERE id = $1"


@pytest.fixture
async def world(database: Database, owner: Owner, tmp_path: Path) -> AsyncIterator[World]:
    await make_effects(owner, "platform_app")
    with World(tmp_path, database) as world:
        yield world


def freeze_with(world: World, worker: Worker, message: str) -> None:
    """Freeze `worker` while it asks the queue, so that the broker hands it `message` and it does not read it."""
    with world.valkey.client() as client:

        def asks() -> bool:
            return any(entry["cmd"] == "brpop" and "b" in entry["flags"] for entry in client.client_list())

        def handed_out() -> bool:
            until(asks, "the worker asks the queue", 20)
            worker.tree(signal.SIGSTOP)
            client.lpush(QUEUE, message)
            if client.lrem(QUEUE, 1, message) == 0:
                return True
            worker.tree(signal.SIGCONT)  # its question ended just before, unanswered
            return False

        until(handed_out, "the broker hands the message to a worker that is frozen", 20)


async def test_a_hint_that_the_broker_handed_to_a_frozen_worker_is_sent_again_soon(
    world: World, database: Database, owner: Owner
) -> None:
    job_id = await enqueue(database, Script(), "a")
    with world.valkey.client() as client:
        async with world.dispatching():
            await eventually(lambda: client.llen(QUEUE) == 1, what="the hint lies in the queue")
        message = client.rpop(QUEUE)
    frozen = await asyncio.to_thread(world.worker)
    await asyncio.to_thread(freeze_with, world, frozen, message)

    async with world.dispatching():
        await asyncio.to_thread(world.worker)
        await eventually(lambda: owner.fetchval(DONE, job_id), what="the job is done", within=20)

        assert await hints(owner, job_id) >= 2
        frozen.tree(signal.SIGCONT)
        told = "jobs.job.not_claimed"
        await eventually(lambda: told in frozen.log.read_text(), what="the late hint claims nothing", within=20)


async def test_a_job_of_a_kind_that_only_newer_workers_know_waits_for_one_of_them(
    world: World, database: Database, owner: Owner
) -> None:
    async with world.dispatching():
        older = await asyncio.to_thread(world.worker)
        job_id = await enqueue(database, Script(), "a", kind=NEWER)
        unknown = "jobs.kind.unknown"
        await eventually(lambda: unknown in older.log.read_text(), what="a worker that does not know it has its hint")
        await asyncio.to_thread(world.worker, LAB_NEWER="1")
        older.process.send_signal(signal.SIGTERM)
        await eventually(lambda: owner.fetchval(DONE, job_id), what="the job is done", within=30)

    assert await owner.fetchval("SELECT (token, claims)::text FROM job") == "(1,1)"
    assert await whats(owner) == ["first begins", "first ends", "second begins", "second ends"]
