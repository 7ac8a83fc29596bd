"""Consuming from a real broker into a real database: once each, in order, and never lost."""

from __future__ import annotations

import asyncio

import pytest
from bus_lab import event_class
from confluent_kafka import Producer
from consuming_lab import Owner, committed, consuming, effects_of, produce_again, publish, running, write_effect

from service_platform.database import Database
from service_platform.event_bus import ConsumerEngine
from world.waiting import eventually

pytestmark = pytest.mark.usefixtures("effect_table")


async def test_a_redelivered_event_takes_effect_once(database: Database, owner: Owner, kafka: str, source: str) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id=f"k{n}", number=n) for n in range(10)))
    again = produce_again(kafka, source, count=2)
    async with running(database, kafka, source, consuming(happened, "c", write_effect(database))):
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, source),
            until=lambda n: n == 10 + again,
            what="every delivery is finished",
        )
    assert sorted(await effects_of(owner)) == [(f"k{n}", n) for n in range(10)]


async def test_two_consumers_of_one_event_both_run(database: Database, owner: Owner, kafka: str, source: str) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id="k", number=n) for n in range(5)))
    consumers = [consuming(happened, name, write_effect(database, name)) for name in ("one", "two")]
    async with running(database, kafka, source, *consumers):
        await eventually(
            lambda: owner.fetchval("SELECT count(*) FROM effect"), until=lambda n: n == 10, what="both have run"
        )
    for name in ("one", "two"):
        assert await effects_of(owner, name) == [("k", n) for n in range(5)]


def test_two_consumers_with_one_name_are_refused(database: Database) -> None:
    happened = event_class("s")
    twice = [consuming(happened, "same", write_effect(database)) for _ in range(2)]
    with pytest.raises(ValueError, match="same"):
        ConsumerEngine(database, consumers=twice, service="g", bootstrap_servers="127.0.0.1:1")


async def test_events_of_no_interest_are_passed_over_unread(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    wanted, other = event_class(source), event_class(source, name="other.happened")
    producer = Producer({"bootstrap.servers": kafka})
    for _ in range(1000):
        producer.produce(f"events.{source}", b"no json", b"k", headers={"event-name": b"other.happened"})
    producer.flush(10)
    await publish(database, kafka, owner, other(thing_id="k"), wanted(thing_id="k", number=7))
    async with running(database, kafka, source, consuming(wanted, "c", write_effect(database))):
        await eventually(lambda: effects_of(owner), until=lambda seen: seen == [("k", 7)], what="the wanted one")
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, source),
            until=lambda n: n == 1002,
            what="the others are finished too",
        )


async def test_a_rebalance_loses_nothing_and_doubles_nothing(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    consumer = consuming(happened, "c", write_effect(database))
    events = [happened(thing_id=f"k{key}", number=n) for n in range(30) for key in range(20)]
    async with running(database, kafka, source, consumer):
        await publish(database, kafka, owner, *events[:300])
        async with running(database, kafka, source, consumer):
            await publish(database, kafka, owner, *events[300:])
            await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) > 400, within=30, what="going on")
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) >= 600, within=30, what="all are done")
    seen = await effects_of(owner)
    assert len(seen) == len(set(seen)) == 600
    for key in range(20):
        assert [n for k, n in seen if k == f"k{key}"] == list(range(30)), "in order, also over the rebalances"


async def test_a_consumer_killed_between_effect_and_offset_has_one_effect(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    """The kill is played by a member that never commits; the real one is a scenario."""
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id="k", number=n) for n in range(5)))
    consumer = consuming(happened, "c", write_effect(database))
    async with running(database, kafka, "first-group", consumer):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 5, what="all take effect")
    async with running(database, kafka, "knows-no-offset", consumer):
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, "knows-no-offset", source),
            until=lambda n: n == 5,
            what="all are delivered again",
        )
    assert await effects_of(owner) == [("k", n) for n in range(5)]
