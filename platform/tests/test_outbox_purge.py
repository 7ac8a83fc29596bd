"""The purge: sent messages go after a while, in bounded batches; unsent ones never."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from outbox_lab import Owner, ScriptedSink, all_sent, parked, publish, refuse, relaying

from service_platform.database import Database
from service_platform.outbox import discard, purge_outbox
from world.waiting import eventually

OLD = timedelta(days=3)


async def kept(owner: Owner) -> list[str]:
    rows = await owner.fetch("SELECT convert_from(payload, 'UTF8') AS name FROM outbox ORDER BY position")
    return [row["name"] for row in rows]


async def pass_time(owner: Owner, days: float) -> None:
    await owner.execute("SELECT platform_clock_set($1, 1)", timedelta(days=days))


async def purged(database: Database, rows: int = 1000) -> int:
    """Purge once; how many messages went."""
    async with database.transaction() as tx:
        return await purge_outbox(tx, older_than=OLD, rows=rows)


@pytest.fixture
async def every_state(database: Database, owner: Owner) -> None:
    """A sent, a discarded, a pending, a suspect, a parked and a deferred message, four days old, and a new sent one."""
    sink = ScriptedSink()
    sink.answer = refuse("discarded", "parked")
    await publish(database, "sent", "discarded", "parked")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: parked(owner), until=lambda n: n == ["discarded", "parked"], what="two are parked")
    async with database.transaction() as tx:
        await discard(tx, 2, reason="no")
    await publish(database, "pending", "suspect")
    await owner.execute("SELECT outbox_mark_suspect(ARRAY[5::bigint], ARRAY['no'])")
    await publish(database, "deferred", not_before=datetime.now(UTC) + timedelta(days=30))
    await pass_time(owner, days=4)
    await publish(database, "new")
    await owner.execute("SELECT outbox_mark_sent(ARRAY[7::bigint])")


@pytest.mark.usefixtures("every_state")
async def test_what_was_sent_or_discarded_long_ago_goes_and_nothing_else(database: Database, owner: Owner) -> None:
    assert await purged(database) == 2
    assert await kept(owner) == ["parked", "pending", "suspect", "deferred", "new"]


async def test_a_discarded_message_is_evidence_for_as_long_as_a_sent_one(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = refuse("bad")
    await publish(database, "bad")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: parked(owner), what="it is parked")
    await pass_time(owner, days=4)
    async with database.transaction() as tx:
        await discard(tx, 1, reason="no")
    assert await purged(database) == 0
    await pass_time(owner, days=8)
    assert await purged(database) == 1


async def test_a_purge_deletes_no_more_than_it_is_told_and_the_next_one_goes_on(
    database: Database, owner: Owner
) -> None:
    await publish(database, *(f"k{n}" for n in range(25)))
    async with relaying(database, ScriptedSink()):
        await all_sent(owner)
    await pass_time(owner, days=4)
    assert [await purged(database, rows=10) for _ in range(4)] == [10, 10, 5, 0]
    assert await kept(owner) == []


async def test_a_purge_reads_no_further_than_the_first_message_that_is_too_young(
    database: Database, owner: Owner
) -> None:
    await publish(database, "old")
    await pass_time(owner, days=4)
    await publish(database, *(f"k{n}" for n in range(500)))
    await owner.execute("SELECT outbox_mark_sent(array_agg(position)) FROM outbox")
    assert await owner.fetchval("SELECT outbox_purge($1, 1000)", OLD) == 1
    plan = await owner.fetch("EXPLAIN (ANALYZE, BUFFERS) SELECT outbox_purge($1, 1000)", OLD)
    read = next(int(line.split("hit=")[1].split()[0]) for (line,) in plan if "Buffers: shared hit=" in line)
    assert len(await kept(owner)) == 500
    assert read < 100, "it did not walk through the young ones"
