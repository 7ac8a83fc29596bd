"""Ticks, with the schedulers of every service that has some: one run a minute, and what becomes of missed ones."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from native.topology import SERVICES
from service_platform.ticks import MissedRuns
from world.timeline import BEGIN, MINUTE, Scheduler, Timeline, Timelines
from world.waiting import eventually
from world.world import World


@pytest.fixture
async def timeline(timelines: Timelines, service: str, tmp_path: Path) -> AsyncIterator[Timeline]:
    """A time of its own for the schedulers of `service`."""
    async with timelines.of(service, tmp_path) as timeline:
        yield timeline


class Replicas:
    """Three replicas of a scheduler, and which of them run."""

    def __init__(self, timeline: Timeline, running: list[Scheduler]) -> None:
        self._timeline = timeline
        self.running = running
        self.stopped: list[Scheduler] = []

    def stop(self, count: int) -> None:
        """Freeze so many, those that ran longest first."""
        for _ in range(count):
            self.running[0].send(signal.SIGSTOP)
            self.stopped.append(self.running.pop(0))

    def resume(self) -> None:
        """All that are frozen go on."""
        for scheduler in self.stopped:
            scheduler.send(signal.SIGCONT)
        self.running += self.stopped
        self.stopped = []

    def kill(self, count: int) -> None:
        """kill -9 so many; as many new ones are started, and run as soon as they are up."""
        for _ in range(count):
            self.running.pop(0).kill()
            self.running.append(self._timeline.start())


@pytest.mark.scenario("tick/one-winner-a-minute")
async def test_three_schedulers_that_are_stopped_resumed_and_killed_run_each_minute_of_an_hour_once(
    timeline: Timeline,
) -> None:
    replicas = Replicas(timeline, await timeline.started(3))
    seen: list[datetime] = []
    for number in range(1, 61):
        match number:
            case 5 | 30:
                replicas.stop(1)
            case 9 | 38:
                replicas.resume()
            case 12 | 45:
                replicas.kill(1)
            case 15 | 33:
                replicas.stop(2 - len(replicas.stopped))
            case 16:
                replicas.stop(1)
            case 20:
                await timeline.show(BEGIN + number * MINUTE)  # or they would wake in the minute before
                replicas.resume()
            case 50:
                replicas.kill(3)
        minute = BEGIN + number * MINUTE
        if replicas.running:
            await timeline.seen(minute)
            seen.append(minute)
        else:
            await timeline.unseen([minute])

    assert len(seen) == 56, "all were frozen from 10:16 to 10:19"
    assert Counter(await timeline.runs()) == timeline.expected(seen)
    fired = [line["minute"] for each in timeline.schedulers for line in each.lines("jobs.tick.fired")]
    assert len(fired) > len(seen), "and their logs tell of it"


@pytest.mark.scenario("tick/missed-minute-policy")
async def test_minutes_that_nobody_saw_run_once_or_not_at_all_as_the_tick_says(timeline: Timeline) -> None:
    first = await timeline.started(2)
    seen = [BEGIN + MINUTE]
    await timeline.seen(seen[-1])

    # All are frozen for an hour and a half, and go on.
    for scheduler in first:
        scheduler.send(signal.SIGSTOP)
    await timeline.unseen(seen[-1] + number * MINUTE for number in range(1, 90))
    seen.append(seen[-1] + 90 * MINUTE)
    await timeline.show(seen[-1])
    for scheduler in first:
        scheduler.send(signal.SIGCONT)
    await timeline.seen(seen[-1])

    # All are dead for as long, and new ones come.
    for scheduler in first:
        scheduler.kill()
    await timeline.unseen(seen[-1] + number * MINUTE for number in range(1, 90))
    seen.append(seen[-1] + 90 * MINUTE)
    await timeline.show(seen[-1])
    await timeline.started(1)
    await timeline.seen(seen[-1])

    runs = Counter(await timeline.runs())
    assert runs == timeline.expected(seen)
    hourly = [tick for tick in timeline.ticks if tick.cron.endswith(" * * * *") and tick.cron != "* * * * *"]
    assert {tick.missed for tick in hourly} == set(MissedRuns), "both policies show, or this proves half of it"
    for tick in hourly:
        keys = [key for key in runs if key.startswith(f"tick:{tick.name}:")]
        assert len(keys) == (2 if tick.missed is MissedRuns.RUN_ONCE else 0), f"{tick.name}: once a hole, or never"


_BROKEN_MINUTE = BEGIN + 7 * MINUTE
_BREAK = """
    CREATE FUNCTION break_firing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'this firing fails'; END $$;
    CREATE TRIGGER break_firing BEFORE INSERT ON job FOR EACH ROW
    WHEN (NEW.job_key = 'tick:{name}:2026-03-01T10:07') EXECUTE FUNCTION break_firing();
"""


@pytest.mark.scenario("tick/failed-firing-does-not-stop-the-next")
async def test_a_firing_that_fails_is_logged_and_the_next_tick_and_the_next_minute_run(timeline: Timeline) -> None:
    broken = next(tick.name for tick in timeline.ticks if tick.cron == "* * * * *")
    await timeline.database.execute(_BREAK.format(name=broken))
    schedulers = await timeline.started(1)
    minutes = [BEGIN + number * MINUTE for number in range(1, 10)]
    for minute in minutes:
        await timeline.seen(minute, failing=[broken] if minute == _BROKEN_MINUTE else [])
        if minute == _BROKEN_MINUTE:

            async def told() -> bool:
                lines = [line for each in schedulers for line in each.lines("jobs.tick.failed")]
                return any("this firing fails" in line["exception"] for line in lines)

            await eventually(told, what="the failed firing is logged with its error")

    runs, expected = Counter(await timeline.runs()), timeline.expected(minutes)
    assert expected - runs == Counter([f"tick:{broken}:2026-03-01T10:07"])
    assert runs - expected == Counter()
    assert any(key.endswith("T10:07") for key in runs), "another tick of that very minute has run"


async def test_a_run_that_an_operator_asks_for_is_done_by_the_services_worker(world: World) -> None:
    for service in SERVICES:
        job_id = await world.operators.run_tick(service, "purge-outbox")

        async def done(service: str = service, job_id: str = job_id) -> bool:
            status = await world.databases.value(service, "SELECT status FROM job WHERE id::text = $1", job_id)
            return bool(status == "done")

        await eventually(done, what=f"{service}'s worker has done the job of its tick", within=60)
