"""Firing: one job a minute, whoever comes, whatever happens in the middle."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from ticks_lab import CATCHING_UP, EVERY_MINUTE, Owner, at, jobs, pass_time, row, show, tick

from service_platform.database import Database
from service_platform.ticks import Firing, fire
from world.waiting import eventually

MINUTE = timedelta(minutes=1)
# The claim takes its time, with everything done but the COMMIT.
_SLOW = """
    CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;
    CREATE TRIGGER take_time AFTER INSERT OR UPDATE ON job_ticks FOR EACH ROW EXECUTE FUNCTION take_time()
"""
_PAUSED = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"


@pytest.fixture
async def begun(database: Database, owner: Owner) -> None:
    """Two ticks that began at 12:00, and a clock that stands at 12:01."""
    await show(owner, at("12:00:00"))
    assert [await fire(each, database) for each in (EVERY_MINUTE, CATCHING_UP)] == [Firing.BEGUN, Firing.BEGUN]
    await show(owner, at("12:01:00"))


async def test_a_new_tick_starts_at_now(database: Database, owner: Owner) -> None:
    await show(owner, at("12:00:30"))
    assert await fire(EVERY_MINUTE, database) is Firing.BEGUN
    assert await fire(EVERY_MINUTE, database) is Firing.NOT_DUE
    assert (await row(owner, "sweep"), await jobs(owner, "sweep")) == ("2026-03-01T12:00", [])


@pytest.mark.usefixtures("begun")
async def test_a_due_minute_makes_one_job_with_the_minute_in_its_key_and_correlation_id(
    database: Database, owner: Owner
) -> None:
    assert [await fire(EVERY_MINUTE, database) for _ in range(3)] == [Firing.FIRED, Firing.NOT_DUE, Firing.NOT_DUE]
    (job,) = await owner.fetch("SELECT kind, job_key, correlation_id, payload FROM job")
    name = "tick:sweep:2026-03-01T12:01"
    assert tuple(job) == ("lab.do-chore", name, name, '{"room": "kitchen"}')
    assert await owner.fetchval("SELECT count(*) FROM outbox_queue WHERE channel = 'celery'") == 1


@pytest.mark.usefixtures("begun")
async def test_of_many_replicas_at_once_one_wins_each_minute(database: Database, owner: Owner) -> None:
    for minute in range(1, 16):
        came = await asyncio.gather(*(fire(EVERY_MINUTE, database) for _ in range(8)))
        assert came.count(Firing.FIRED) == 1, minute
        assert set(came) <= {Firing.FIRED, Firing.NOT_DUE, Firing.BUSY}
        await pass_time(owner, MINUTE)
    assert await jobs(owner, "sweep") == [f"2026-03-01T12:{minute:02}" for minute in range(1, 16)]


@pytest.mark.usefixtures("begun")
async def test_while_one_replica_fires_another_does_not_wait_for_it(database: Database, owner: Owner) -> None:
    await owner.execute(_SLOW)
    await owner.execute("SELECT pg_advisory_lock(4711)")
    first = asyncio.create_task(fire(EVERY_MINUTE, database))
    await eventually(lambda: owner.fetchval(_PAUSED), what="the first replica is in the middle of its claim")
    async with asyncio.timeout(10):
        assert await fire(EVERY_MINUTE, database) is Firing.BUSY
        assert await jobs(owner, "sweep") == []
    await owner.execute("SELECT pg_advisory_unlock(4711)")
    assert await first is Firing.FIRED


@pytest.mark.usefixtures("begun")
async def test_a_replica_that_pauses_in_its_claim_for_too_long_does_not_fire_and_another_does(
    database: Database, owner: Owner, root: Owner
) -> None:
    await owner.execute(_SLOW)
    await owner.execute("SELECT pg_advisory_lock(4711)")
    paused = asyncio.create_task(fire(EVERY_MINUTE, database))
    backend = await eventually(lambda: owner.fetchval(_PAUSED), what="a replica is in the middle of its claim")
    await root.execute("SELECT pg_terminate_backend($1)", backend)  # as the server does at its time limits
    with pytest.raises(DBAPIError):
        await paused
    assert (await row(owner, "sweep"), await jobs(owner, "sweep")) == ("2026-03-01T12:00", [])

    await owner.execute("SELECT pg_advisory_unlock(4711)")
    assert await fire(EVERY_MINUTE, database) is Firing.FIRED
    assert await jobs(owner, "sweep") == ["2026-03-01T12:01"]


@pytest.mark.usefixtures("begun")
async def test_an_error_in_the_claim_or_after_it_leaves_the_minute_to_the_next_one_who_comes(
    database: Database, owner: Owner
) -> None:
    for table in ("job_ticks", "job", "outbox"):
        await owner.execute(f"ALTER TABLE {table} ADD CONSTRAINT broken CHECK (false) NOT VALID")
        with pytest.raises((DBAPIError, asyncpg.CheckViolationError), match="broken"):
            await fire(EVERY_MINUTE, database)
        assert (await row(owner, "sweep"), await jobs(owner, "sweep")) == ("2026-03-01T12:00", []), table
        await owner.execute(f"ALTER TABLE {table} DROP CONSTRAINT broken")
    assert await fire(EVERY_MINUTE, database) is Firing.FIRED


@pytest.mark.usefixtures("begun")
async def test_nothing_is_enqueued_unless_the_claim_says_so(database: Database, owner: Owner) -> None:
    await owner.execute(
        "CREATE OR REPLACE FUNCTION job_tick_claim(tick text, due_minute text) RETURNS boolean LANGUAGE sql AS"
        " 'SELECT false'"
    )
    assert await fire(EVERY_MINUTE, database) is Firing.NOT_DUE
    assert await owner.fetchval("SELECT count(*) FROM job") + await owner.fetchval("SELECT count(*) FROM outbox") == 0


@pytest.mark.usefixtures("begun")
async def test_the_row_outlives_the_job_so_a_late_replica_finds_the_minute_taken(
    database: Database, owner: Owner
) -> None:
    await fire(EVERY_MINUTE, database)
    await owner.execute("DELETE FROM job")
    assert await fire(EVERY_MINUTE, database) is Firing.NOT_DUE
    assert await jobs(owner, "sweep") == []


@pytest.mark.usefixtures("begun")
async def test_every_claim_goes_by_the_row_and_the_clock_of_that_moment_and_applies_the_policy(
    database: Database, owner: Owner
) -> None:
    daily = tick("air", "30 4 * * *")
    assert await fire(daily, database) is Firing.BEGUN
    await pass_time(owner, timedelta(days=3, minutes=9))
    assert [await fire(each, database) for each in (EVERY_MINUTE, CATCHING_UP, daily)] == [
        Firing.FIRED,
        Firing.FIRED,
        Firing.PASSED_OVER,
    ]
    assert await jobs(owner, "sweep") == await jobs(owner, "wash") == ["2026-03-04T12:10"]
    assert (await row(owner, "air"), await jobs(owner, "air")) == ("2026-03-04T04:30", [])


async def test_where_clocks_are_turned_back_and_forth_each_half_hour_still_comes_once(
    database: Database, owner: Owner, root: Owner
) -> None:
    name = await root.fetchval("SELECT current_database()")
    await root.execute(f"ALTER DATABASE {name} SET timezone TO 'America/New_York'")
    each = tick("half-hours", "*/30 * * * *")
    expected = []
    for turn in (datetime(2026, 3, 8, 7, tzinfo=UTC), datetime(2026, 11, 1, 6, tzinfo=UTC)):
        await show(owner, turn - timedelta(hours=2, seconds=1))
        await fire(each, database)
        for half_hours in range(8):
            instant = turn + timedelta(minutes=30 * (half_hours - 4))
            await show(owner, instant)
            assert await fire(each, database) is Firing.FIRED, instant
            expected.append(f"{instant:%Y-%m-%dT%H:%M}")
    assert await jobs(owner, "half-hours") == expected


async def test_the_row_moves_only_forward_and_says_whether_it_did(owner: Owner) -> None:
    await show(owner, at("12:05:00"))
    minutes = ["12:02", "12:02", "12:01", "12:03", "12:00", "12:05"]
    moved = [await owner.fetchval("SELECT job_tick_claim('t', $1)", f"2026-03-01T{minute}") for minute in minutes]
    assert moved == [True, False, False, True, False, True]
    assert await row(owner, "t") == "2026-03-01T12:05"


async def test_a_minute_that_has_not_come_or_is_none_cannot_be_claimed(owner: Owner) -> None:
    await show(owner, at("12:05:59"))
    with pytest.raises(asyncpg.InvalidParameterValueError, match="has not come"):
        await owner.fetchval("SELECT job_tick_claim('t', '2026-03-01T12:06')")
    with pytest.raises(asyncpg.CheckViolationError):
        await owner.fetchval("SELECT job_tick_claim('t', '2026-03-01')")


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO job_ticks VALUES ('sweep', '2026-03-01T12:00')",
        "UPDATE job_ticks SET minute = '2026-01-01T00:00'",
        "DELETE FROM job_ticks",
        "TRUNCATE job_ticks",
    ],
)
async def test_the_service_cannot_write_the_table_but_by_the_claim(statement: str, database: Database) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        async with database.transaction() as tx:
            await tx.session.execute(text(statement))
