"""When a tick is due: five fields, UTC, and what becomes of minutes that nobody claimed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, ConfigDict
from ticks_lab import CATCHING_UP, CHORE, DAILY, EVERY_MINUTE, Chore, at, tick

from service_platform.jobs import JobKind
from service_platform.ticks import Cron, CronInvalid, MissedRuns, Tick, checked
from service_platform.ticks.missed import Due, due

HOURLY = {missed: tick("hourly", "0 * * * *", missed) for missed in MissedRuns}


@pytest.mark.parametrize("cron", ["", "* * * *", "0 * * * * *", "@daily", "61 * * * *", "* * 31 2 *", "a * * * *"])
def test_what_is_no_cron_of_five_fields_or_never_comes_is_refused(cron: str) -> None:
    with pytest.raises(CronInvalid):
        Cron(cron)


def test_no_zone_and_no_daylight_saving_moves_doubles_or_drops_an_instant() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    half_past = Cron("30 * * * *")
    for turn in (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)):
        instant = (turn - timedelta(hours=4)).astimezone(berlin)
        for hours in range(8):
            instant = half_past.next_after(instant)
            assert instant == turn - timedelta(hours=4) + timedelta(hours=hours, minutes=30)
            assert half_past.latest_until(instant.astimezone(berlin)) == instant


@pytest.mark.parametrize(
    ("now", "latest"),
    [
        ("12:00:00", "12:00:00"),
        ("12:00:00.000001", "12:00:00"),
        ("12:14:59.999999", "12:00:00"),
        ("12:15:00", "12:15:00"),
    ],
)
def test_the_latest_instant_is_that_of_now_or_before(now: str, latest: str) -> None:
    assert Cron("*/15 * * * *").latest_until(at(now)) == at(latest)


def test_a_new_tick_starts_at_now_and_does_not_run_in_the_minute_that_it_began_in() -> None:
    assert due(EVERY_MINUTE, last=None, now=at("12:00:30")) == Due(at("12:00:00"), runs=False, missed=False)
    assert due(EVERY_MINUTE, last="2026-03-01T12:00", now=at("12:00:59")) is None
    assert due(EVERY_MINUTE, last="2026-03-01T12:00", now=at("12:01:00")) == Due(
        at("12:01:00"), runs=True, missed=False
    )


@pytest.mark.parametrize("missed", MissedRuns)
def test_in_its_own_minute_an_instant_runs_whatever_the_policy(missed: MissedRuns) -> None:
    assert due(HOURLY[missed], last="2026-03-01T11:00", now=at("12:00:59.9")) == Due(
        at("12:00:00"), runs=True, missed=False
    )


def test_a_missed_instant_runs_once_or_is_passed_over_as_the_tick_says() -> None:
    for missed, runs in ((MissedRuns.SKIP, False), (MissedRuns.RUN_ONCE, True)):
        assert due(HOURLY[missed], last="2026-03-01T09:00", now=at("12:01:00")) == Due(
            at("12:00:00"), runs=runs, missed=True
        )


def test_of_several_instants_that_came_due_only_the_newest_runs() -> None:
    for each in (EVERY_MINUTE, CATCHING_UP):
        assert due(each, last="2026-03-01T11:50", now=at("12:00:10")) == Due(at("12:00:00"), runs=True, missed=True)


def test_a_row_that_is_ahead_of_the_clock_leaves_nothing_due() -> None:
    assert due(EVERY_MINUTE, last="2026-03-01T13:00", now=at("12:00:00")) is None


def test_a_tick_holds_a_payload_of_its_kind_made_of_ids_and_literals() -> None:
    class Listing(BaseModel):
        model_config = ConfigDict(frozen=True)

        rooms: tuple[str, ...] = ("kitchen",)

    kind = JobKind(name="lab.list", payload=Listing)
    with pytest.raises(TypeError, match="neither an id nor a literal"):
        Tick(name="list", cron="* * * * *", kind=kind, payload=Listing(), missed=MissedRuns.SKIP)
    with pytest.raises(TypeError, match="takes a Listing"):
        Tick(name="list", cron="* * * * *", kind=kind, payload=Chore(), missed=MissedRuns.SKIP)  # type: ignore[arg-type]


def test_a_tick_is_named_plainly_and_once_and_starts_a_job_of_its_own_service() -> None:
    with pytest.raises(ValueError, match="name it like"):
        Tick(name="Sweep all", cron="* * * * *", kind=CHORE, payload=Chore(), missed=MissedRuns.SKIP)
    with pytest.raises(ValueError, match="Two ticks are named sweep"):
        checked((EVERY_MINUTE, tick("sweep")), "lab")
    with pytest.raises(ValueError, match="starts jobs of lab"):
        checked((DAILY,), "order")
    assert checked((EVERY_MINUTE, DAILY), "lab") == (EVERY_MINUTE, DAILY)
