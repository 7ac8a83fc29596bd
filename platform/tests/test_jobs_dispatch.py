"""Noting which hints the broker has: what it costs while jobs pile up, and that a delivery does not depend on it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pytest
from jobs_lab import Owner, hints
from jobs_world import World

from service_platform.database import Database
from service_platform.jobs import Broker, CelerySink
from service_platform.outbox import Relay
from world.waiting import eventually

_ENQUEUE = "SELECT job_enqueue(gen_random_uuid(), 'lab.quick', $1 || n, '{}', 'c', NULL) FROM generate_series(1, $2) n"


async def enqueued(owner: Owner, name: str, jobs: int) -> Sequence[UUID]:
    """So many jobs, without hints."""
    return [job_id for (job_id,) in await owner.fetch(_ENQUEUE, name, jobs)]


@pytest.mark.parametrize("purged", [False, True])
async def test_noting_hints_costs_as_much_as_they_are_many_also_when_the_planner_knows_of_no_backlog(
    owner: Owner, root: Owner, purged: bool
) -> None:
    done = await enqueued(owner, "old", 3000)
    await owner.execute("SELECT job_claim(id, 'lab.quick', 'me', 30, 3, 3) FROM unnest($1::uuid[]) AS id", done)
    await owner.execute("SELECT job_complete(id, 1) FROM unnest($1::uuid[]) AS id", done)
    if purged:
        await owner.execute("DELETE FROM job WHERE id <> $1", done[-1])
    await owner.execute("VACUUM ANALYZE job")
    waiting = await enqueued(owner, "new", 2000)

    mark = "EXPLAIN (ANALYZE, BUFFERS) SELECT job_mark_dispatched($1, $2, 30)"
    plan = await root.fetch(mark, waiting[:500], [0] * 500)

    pages = next(int(line.split("hit=")[1].split()[0]) for (line,) in plan if "Buffers: shared hit=" in line)
    assert await owner.fetchval("SELECT count(*) FROM job WHERE dispatched_at IS NOT NULL") == 500
    assert pages < 500 * 40, "it did not go through the backlog for each hint"


async def test_hints_count_as_sent_when_the_note_of_it_cannot_be_made_in_time(
    database: Database, owner: Owner, tmp_path: Path
) -> None:
    (job_id,) = await enqueued(owner, "a", 1)
    await owner.execute("UPDATE job SET resend_at = platform_now()")
    assert await owner.fetchval("SELECT job_sweep(1, 1)") == 1
    stop = asyncio.Event()
    with World(tmp_path, database) as world:
        sink = CelerySink(Broker("lab", world.valkey.url), database, resend_after_seconds=1)
        relay = asyncio.create_task(Relay(database, channel="celery", sink=sink).run(stop))
        async with owner.transaction():
            await owner.execute("LOCK TABLE job")
            await eventually(
                lambda: owner.fetchval("SELECT count(*) = 0 FROM outbox_queue"), what="the hint counts as sent"
            )
        stop.set()
        await relay
        await sink.close()
        with world.valkey.client() as client:
            assert client.llen("lab:lab.jobs") == 1
    assert await hints(owner, job_id) == 1
