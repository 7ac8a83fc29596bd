"""A relay whose broker, or whose database, is away: nothing parked, no try burnt, no transaction open, no spin."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence

from outbox_lab import Owner, ScriptedSink, acknowledge, all_sent, pending, publish, relaying, tries

from service_platform.database import Database
from service_platform.outbox import Delivered, OutboxRow, SinkUnavailable
from world.waiting import eventually


async def in_transaction(root: Owner) -> int:
    """How many connections of relays have a transaction open."""
    count: int = await root.fetchval(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%relay%' AND datname = "
        "current_database() AND xact_start IS NOT NULL"
    )
    return count


async def test_a_sink_that_gets_nothing_done_is_not_asked_in_a_spin(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = lambda _rows: Delivered(frozenset())
    await publish(database, *(f"k{n}/e1" for n in range(100)))
    started = time.monotonic()
    async with relaying(database, sink, poll_seconds=0.5):
        await eventually(lambda: len(sink.batches), until=lambda n: n >= 4, what="it is asked again")
    assert time.monotonic() - started > 1.0
    assert await pending(owner) == 100


async def test_an_outage_parks_nothing_burns_no_try_and_holds_no_transaction(
    database: Database, owner: Owner, root: Owner
) -> None:
    sink = ScriptedSink()
    away = True

    def outage(rows: Sequence[OutboxRow]) -> Delivered:
        if away:
            sink.is_away = True
            raise SinkUnavailable("broker away", acknowledged=[rows[0].position])
        return acknowledge(rows)

    sink.answer = outage
    await publish(database, *(f"k{n}/e1" for n in range(5)))
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: sink.probes, until=lambda n: n >= 4, what="the broker is asked again and again")
        assert len(sink.batches) == 1, "while the broker does not answer, no pass begins"
        assert await pending(owner) == 4, "what got through before the outage is marked"
        assert set((await tries(owner)).values()) == {0}
        assert await in_transaction(root) == 0
        away = sink.is_away = False
        await all_sent(owner)
    assert sorted(sink.taken) == [f"k{n}/e1" for n in range(5)]


async def test_the_first_rows_wait_outside_of_a_transaction_until_the_sink_is_ready_for_them(
    database: Database, owner: Owner, root: Owner
) -> None:
    sink = ScriptedSink()
    loading, loaded = asyncio.Event(), asyncio.Event()

    async def load() -> None:
        loading.set()
        await loaded.wait()

    sink.probe = load  # type: ignore[method-assign]
    async with relaying(database, sink, poll_seconds=0.05) as relay:
        await eventually(lambda: relay.ready, what="the relay is ready without a row, and without its sink")
        assert not loading.is_set()
        await publish(database, "k/e1")
        await asyncio.wait_for(loading.wait(), 10)
        assert await in_transaction(root) == 0
        assert sink.batches == []
        loaded.set()
        await all_sent(owner)
    assert sink.taken == ["k/e1"]


async def test_a_broker_that_is_away_is_not_asked_in_a_spin(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()

    def away(_rows: Sequence[OutboxRow]) -> Delivered:
        raise SinkUnavailable("broker away")

    sink.answer, sink.is_away = away, True
    await publish(database, "k/e1")
    async with relaying(database, sink, poll_seconds=0.01):
        asked = await eventually(lambda: sink.probes, until=lambda n: n >= 1, what="the broker is asked")
        began = time.monotonic()
        await eventually(lambda: sink.probes, until=lambda n: n >= asked + 5, what="the broker is asked again")
    assert time.monotonic() - began > 4 * 0.05


async def test_one_absent_destination_does_not_stop_the_others(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sends: list[float] = []

    def one_away(rows: Sequence[OutboxRow]) -> Delivered:
        here = [row for row in rows if row.destination != "events.absent"]
        if len(here) < len(rows):
            sends.append(time.monotonic())
            raise SinkUnavailable("unknown topic", [row.position for row in here], ["events.absent"])
        return acknowledge(rows)

    sink.answer = one_away
    await publish(database, "k1/lost", destination="events.absent")
    async with relaying(database, sink, poll_seconds=0.05):
        for n in range(20):
            await publish(database, f"k{n}/here")
            await eventually(lambda: pending(owner), until=lambda left: left == 1, what="the others are sent")
        await eventually(lambda: len(sends), until=lambda n: n >= 2, what="the absent one is tried again")
        assert await tries(owner) == {"k1/lost": 0}
    pauses = [later - earlier for earlier, later in itertools.pairwise(sends)]
    assert min(pauses) > 0.2, "it is not tried in a spin"


async def test_channels_do_not_wait_for_each_other(database: Database, owner: Owner) -> None:
    kafka, celery = ScriptedSink(), ScriptedSink()

    def away(_rows: Sequence[OutboxRow]) -> Delivered:
        raise SinkUnavailable("redis away")

    celery.answer, celery.is_away = away, True
    async with relaying(database, kafka), relaying(database, celery, channel="celery"):
        await publish(database, "job", channel="celery", destination="order.jobs")
        await publish(database, "k/e1")
        await eventually(lambda: kafka.taken, until=lambda taken: taken == ["k/e1"], what="the event is sent")
    assert await pending(owner) == 1


async def test_a_lost_database_is_come_back_to(database: Database, owner: Owner, root: Owner) -> None:
    sink = ScriptedSink()
    async with relaying(database, sink, poll_seconds=0.1) as relay:
        await eventually(lambda: relay.ready, what="the relay is connected")
        await root.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name LIKE '%relay%' AND datname = current_database()"
        )
        await publish(database, "k/e1")
        await all_sent(owner)
