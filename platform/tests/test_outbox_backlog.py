"""What operators see: how much waits and since when, which keys are held back, what is parked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from outbox_lab import Owner, ScriptedSink, all_sent, parked, publish, refuse, relaying

from service_platform.database import Database
from service_platform.outbox import backlog, blocked_keys, parked_rows
from service_platform.pagination import PageRequest, Position
from world.waiting import eventually


@pytest.fixture
async def in_trouble(database: Database, owner: Owner) -> None:
    """k1 and k2 are parked at events.order, two messages wait behind k1; everything else was sent."""
    sink = ScriptedSink()
    sink.answer = refuse("k1/bad", "k2/bad")
    await publish(database, "k1/bad", "k1/e2", "k2/bad", "k3/e1")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: parked(owner), until=lambda names: len(names) == 2, what="both are parked")
        await publish(database, "k1/e3", "k3/e2")
        await eventually(lambda: sink.taken, until=lambda taken: "k3/e2" in taken, what="the others are sent")


async def test_nothing_waits_in_an_outbox_that_was_delivered(database: Database, owner: Owner) -> None:
    await publish(database, "k1/e1")
    async with relaying(database, ScriptedSink()):
        await all_sent(owner)
    async with database.read() as session:
        assert await backlog(session) == []
        assert await blocked_keys(session) == []
        assert await parked_rows(session, PageRequest(10, None)) == []


@pytest.mark.usefixtures("in_trouble")
async def test_the_backlog_is_counted_by_channel_and_destination_and_state(database: Database, owner: Owner) -> None:
    await publish(database, "job", channel="celery", destination="order.jobs")
    await publish(database, "late", not_before=datetime.now(UTC) + timedelta(hours=1))
    await publish(database, "k9/suspect")
    await owner.execute("SELECT outbox_mark_suspect(array_agg(position), ARRAY['no']) FROM outbox WHERE key = 'k9'")
    async with database.read() as session:
        jobs, events = await backlog(session)
    assert (jobs.channel, jobs.destination, jobs.pending) == ("celery", "order.jobs", 1)
    assert (events.channel, events.destination) == ("kafka", "events.order")
    assert (events.pending, events.deferred, events.suspects, events.parked) == (2, 1, 1, 2)


async def test_the_age_is_that_of_the_oldest_row_that_could_go(database: Database, owner: Owner) -> None:
    await publish(database, "late", not_before=datetime.now(UTC) + timedelta(minutes=10))
    async with database.read() as session:
        (waiting,) = await backlog(session)
    assert waiting.oldest_due_seconds is None, "what is not due does not wait"
    await owner.execute("SELECT platform_clock_set('15 minutes', 1)")
    async with database.read() as session:
        (waiting,) = await backlog(session)
    assert waiting.oldest_due_seconds == pytest.approx(300, abs=30), "counted from when it was due"
    await publish(database, "k/e1")
    await owner.execute("SELECT platform_clock_set('25 minutes', 1)")
    await publish(database, "k/e2")
    async with database.read() as session:
        (waiting,) = await backlog(session)
    assert waiting.oldest_due_seconds == pytest.approx(900, abs=30)


@pytest.mark.usefixtures("in_trouble")
async def test_a_blocked_key_is_listed_with_its_reason_and_how_many_wait(database: Database) -> None:
    async with database.read() as session:
        first, second = await blocked_keys(session)
        assert await blocked_keys(session, limit=1) == [first]
        assert await blocked_keys(session, after=first.position, limit=1) == [second]
    assert (first.key, first.destination, first.state, first.waiting) == ("k1", "events.order", "parked", 2)
    assert first.error == "MSG_SIZE_TOO_LARGE"
    assert (second.key, second.waiting) == ("k2", 0)


@pytest.mark.usefixtures("in_trouble")
async def test_parked_messages_are_listed_by_page_with_what_was_refused(database: Database, owner: Owner) -> None:
    async with database.read() as session:
        both = await parked_rows(session, PageRequest(10, None))
        first_page = await parked_rows(session, PageRequest(1, None))
        last = first_page[0]
        rest = await parked_rows(session, PageRequest(1, Position(last.parked_at, last.message_id)))
    assert [row.key for row in first_page[:1] + rest] == [row.key for row in both]
    assert sorted(row.key for row in both) == ["k1", "k2"]
    (bad,) = [row for row in both if row.key == "k1"]
    assert (bad.tries, bad.error, bad.payload_bytes, bad.headers) == (3, "MSG_SIZE_TOO_LARGE", 6, {})
    assert isinstance(bad.message_id, UUID)
    assert bad.position == await owner.fetchval("SELECT min(position) FROM outbox WHERE key = 'k1'")
