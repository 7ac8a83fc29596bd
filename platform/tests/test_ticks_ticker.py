"""The scheduler's loop: it looks in time and not more often, goes on after every failure, and tells its state."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError
from structlog.testing import capture_logs
from ticks_lab import CATCHING_UP, DAILY, EVERY_MINUTE, Owner, at, jobs, row, show

from service_platform.database import Database
from service_platform.process import run_together
from service_platform.ticks import JobTicks, Tick, Ticker
from world.waiting import eventually

BREAK_SWEEP = """
    ALTER TABLE job ADD CONSTRAINT broken CHECK (job_key NOT LIKE 'tick:sweep:%' OR job_key LIKE '%:02') NOT VALID
"""


@contextlib.asynccontextmanager
async def ticking(database: Database, ticks: JobTicks, *, look_seconds: float = 0.1) -> AsyncIterator[Ticker]:
    """A scheduler's loop at work."""
    ticker = Ticker(database, ticks, look_seconds=look_seconds)
    stop = asyncio.Event()
    task = asyncio.create_task(run_together(stop, ticker.run))
    try:
        yield ticker
    finally:
        stop.set()
        await asyncio.wait_for(task, 5)


async def test_a_firing_that_fails_is_logged_and_the_next_tick_and_the_next_minute_run(
    database: Database, owner: Owner
) -> None:
    await owner.execute(BREAK_SWEEP)
    await show(owner, at("12:00:00"))
    with capture_logs() as lines:
        async with ticking(database, (EVERY_MINUTE, CATCHING_UP)):
            await eventually(lambda: row(owner, "wash"), what="both ticks have begun")
            await show(owner, at("12:01:00"))
            await eventually(lambda: jobs(owner, "wash"), what="the tick after the failing one has run")
            failed = await eventually(lambda: failures(lines), what="the failure is logged")
            assert await jobs(owner, "sweep") == []
            await show(owner, at("12:02:00"))
            await eventually(lambda: jobs(owner, "sweep"), what="the failing tick has run a minute later")
    assert {(line["tick"], line["minute"]) for line in failed} == {("sweep", "2026-03-01T12:01")}
    assert await jobs(owner, "sweep") == ["2026-03-01T12:02"]
    assert await jobs(owner, "wash") == ["2026-03-01T12:01", "2026-03-01T12:02"]


async def test_what_failed_is_tried_again_within_its_minute(database: Database, owner: Owner) -> None:
    await show(owner, at("12:00:00"))
    with capture_logs() as lines:
        async with ticking(database, (EVERY_MINUTE,)):
            await eventually(lambda: row(owner, "sweep"), what="the tick has begun")
            await owner.execute(BREAK_SWEEP)
            await show(owner, at("12:01:00"))
            await eventually(lambda: failures(lines), what="the firing has failed")
            await owner.execute("ALTER TABLE job DROP CONSTRAINT broken")
            await eventually(lambda: jobs(owner, "sweep"), what="the same minute has run")
    assert await jobs(owner, "sweep") == ["2026-03-01T12:01"]


def failures(lines: list[Any]) -> list[Any]:
    return [line for line in lines if line["event"] == "jobs.tick.failed"]


async def test_it_sleeps_until_the_next_instant_of_the_databases_clock_and_a_little_longer(
    database: Database, owner: Owner
) -> None:
    ticker = Ticker(database, (EVERY_MINUTE, DAILY), look_seconds=30)
    pauses: list[float] = []
    for _ in range(20):
        await show(owner, at("12:00:40"), rate=1)
        pauses.append(await ticker.round())
    assert all(19 < pause < 22 for pause in pauses)
    assert max(pauses) - min(pauses) > 0.5, "replicas do not come all at once"


async def test_it_knows_how_fast_that_clock_goes_and_that_it_may_stand(database: Database, owner: Owner) -> None:
    ticker = Ticker(database, (EVERY_MINUTE, DAILY), look_seconds=20)
    await show(owner, at("12:00:00"), rate=60)
    assert 0.5 < await ticker.round() < 1.1
    await show(owner, at("12:00:10"))
    assert await ticker.round() == 20
    await show(owner, at("12:00:00"), rate=1)
    assert await ticker.round() == 20, "it looks again before long, whatever the schedule says"


async def test_while_nothing_is_due_nothing_is_fired(
    database: Database, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(owner, at("12:00:30"))
    ticker = Ticker(database, (EVERY_MINUTE, DAILY))
    await ticker.round()
    fired: list[str] = []

    async def fire(tick: Tick[Any], _: Database) -> None:
        fired.append(tick.name)

    monkeypatch.setattr("service_platform.ticks.ticker.fire", fire)
    for _ in range(20):
        await ticker.round()
    assert fired == []
    await show(owner, at("12:01:00"))
    await ticker.round()
    assert fired == [EVERY_MINUTE.name]


async def test_it_is_ready_while_its_rounds_reach_the_database(
    database: Database, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticker = Ticker(database, (EVERY_MINUTE,), look_seconds=10)
    assert not ticker.ready, "it has not looked yet"
    async with ticking(database, (EVERY_MINUTE,)) as running:
        await eventually(lambda: running.ready, what="it is ready")
        await owner.execute("ALTER TABLE job_ticks RENAME TO away")
        await eventually(lambda: not running.ready, what="its looks fail")
        await owner.execute("ALTER TABLE away RENAME TO job_ticks")
        await eventually(lambda: running.ready, what="they succeed again")
        real = time.monotonic
        monkeypatch.setattr("time.monotonic", lambda: real() + 3600)
        assert not running.ready, "the last round is long ago"


async def test_a_database_that_is_away_is_an_error_of_the_round_and_no_end_of_the_loop(
    database: Database, owner: Owner
) -> None:
    await owner.execute("ALTER TABLE job_ticks RENAME TO away")
    with pytest.raises(DBAPIError):
        await Ticker(database, (EVERY_MINUTE,)).round()
    await show(owner, at("12:00:00"))
    with capture_logs() as lines:
        async with ticking(database, (EVERY_MINUTE,)):
            await eventually(lambda: [e for e in lines if e["event"] == "jobs.tick.look_failed"], what="it is logged")
            await owner.execute("ALTER TABLE away RENAME TO job_ticks")
            await eventually(lambda: row(owner, "sweep"), what="the tick has begun after all")
