"""Housekeeping: what is old enough goes, in fenced batches, as jobs that every service's worker runs."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from ticks_lab import Owner

from service_platform.bootstrap import with_housekeeping
from service_platform.database import Database
from service_platform.housekeeping import Retention, housekeeping_ticks
from service_platform.housekeeping.purges import PURGES, Housekeeping, Purge, RunPurge
from service_platform.jobs import FencedProcessor, JobFencedOut, JobRunner, Lease
from service_platform.settings import ServiceSettings
from world.service_process import service_environment

OLD = timedelta(days=30)

each_purge = pytest.mark.parametrize("purge", PURGES, ids=lambda purge: purge.of)

# So many rows of what a purge is about, each old enough a hundred days later.
PLANTS = {
    "outbox": """
        INSERT INTO outbox (channel, destination, consumer, key, message_id, headers, payload, created_at)
        SELECT 'kafka', 't', '', 'k', gen_random_uuid(), '{}', '', platform_now() FROM generate_series(1, $1::int)
    """,
    "inbox": """
        INSERT INTO inbox SELECT 'c', 's', gen_random_uuid(), platform_now() FROM generate_series(1, $1::int)
    """,
    "idempotency_keys": """
        INSERT INTO idempotency_key (subject, operation, key, fingerprint, status, answer)
        SELECT 's', 'o', gen_random_uuid(), '', 201, '{}' FROM generate_series(1, $1::int)
    """,
    "jobs": """
        INSERT INTO job (
            id, kind, job_key, status, payload, correlation_id, created_at, run_after, resend_at, finished_at
        )
        SELECT gen_random_uuid(), 'order.thing', gen_random_uuid(), 'done', '{}', 'c', at, at, at, at
        FROM generate_series(1, $1::int), platform_now() AS at
    """,
}
TABLES = {"outbox": "outbox", "inbox": "inbox", "idempotency_keys": "idempotency_key", "jobs": "job"}


@pytest.fixture
def settings(database: Database, monkeypatch: pytest.MonkeyPatch) -> ServiceSettings:
    for name, value in service_environment("order", database.address).items():
        monkeypatch.setenv(name, value)
    return ServiceSettings()  # type: ignore[call-arg] # from the environment


class NoLeases:
    """Jobs here are over before a lease needs renewing."""

    def watch(self, lease: Lease) -> None:
        pass


@contextlib.asynccontextmanager
async def none_of_its_own(_database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
    yield []


@contextlib.asynccontextmanager
async def worker(settings: ServiceSettings, database: Database) -> AsyncIterator[JobRunner]:
    """What a worker's child runs jobs with."""
    async with with_housekeeping(settings, none_of_its_own)(database) as processors:
        yield JobRunner(database, processors, leases=NoLeases())


async def plant(owner: Owner, of: str, rows: int) -> None:
    await owner.execute(PLANTS[of], rows)


async def left(owner: Owner, of: str) -> int:
    found: int = await owner.fetchval(f"SELECT count(*) FROM {TABLES[of]}")
    return found


@each_purge
async def test_the_job_of_its_tick_deletes_what_is_old_and_leaves_the_rest(
    purge: Purge, database: Database, owner: Owner, settings: ServiceSettings
) -> None:
    (tick,) = [tick for tick in housekeeping_ticks("order") if tick.name == purge.name]
    await plant(owner, purge.of, 3)
    await owner.execute("SELECT platform_clock_set('100 days', 1)")
    await plant(owner, purge.of, 2)
    async with database.transaction() as tx:
        job_id = await tick.kind.enqueue(tick.payload, tx, key="k")
    before = await left(owner, purge.of)
    async with worker(settings, database) as runner:
        await runner.run(tick.kind.name, job_id)
    assert await owner.fetchval("SELECT status FROM job WHERE id = $1", job_id) == "done"
    assert before - await left(owner, purge.of) == 3


async def test_every_tick_of_housekeeping_has_its_processor_in_every_worker(
    database: Database, settings: ServiceSettings
) -> None:
    async with with_housekeeping(settings, none_of_its_own)(database) as processors:
        kinds = {processor.kind.name for processor in processors}
    assert {tick.kind.name for tick in housekeeping_ticks("order")} == kinds
    assert {kind.partition(".")[0] for kind in kinds} == {"order"}


class Fences:
    """A fence that holds for so many transactions."""

    def __init__(self, holds: int) -> None:
        self.left = holds

    async def acquire(self, _tx: object) -> None:
        if self.left == 0:
            raise JobFencedOut("another run owns the job")
        self.left -= 1


@each_purge
async def test_it_deletes_in_batches_each_under_the_fence_until_nothing_is_left(
    purge: Purge, database: Database, owner: Owner, settings: ServiceSettings
) -> None:
    await plant(owner, purge.of, 25)
    await owner.execute("SELECT platform_clock_set('100 days', 1)")
    housekeeping = Housekeeping(
        database, Retention(outbox=OLD, inbox=OLD, idempotency_keys=OLD, jobs=OLD), batch_rows=10
    )
    fence = Fences(holds=1)
    with pytest.raises(JobFencedOut):
        await housekeeping.purge(RunPurge(fence, purge))
    assert await left(owner, purge.of) == 15, "a run that was taken over has deleted a whole batch and no more"
    assert await housekeeping.purge(RunPurge(Fences(holds=2), purge)) == 15
    assert await left(owner, purge.of) == 0
