"""Consuming from a real broker into a real database: once each, in order, and never lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from bus_lab import event_class
from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from consuming_lab import (
    Owner,
    committed,
    consuming,
    effects_of,
    make_effects,
    produce_again,
    publish,
    running,
    write_effect,
)
from probing import eventually
from sqlalchemy import text

from native.stack import Stack
from service_platform.database import Database, DatabaseAddress
from service_platform.event_bus import ConsumerEngine, Delivery, fetcher, partition
from service_platform.event_bus import engine as bus_engine
from service_platform.event_bus.retention import InboxForgetsTooSoon, check_retentions, topic_retentions


@pytest.fixture(autouse=True)
async def effects(owner: Owner) -> None:
    await make_effects(owner)


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


async def test_a_database_that_goes_away_in_mid_effect_costs_nothing(
    database: Database, owner: Owner, root: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id="k", number=n) for n in range(3)))
    write = write_effect(database)
    killed: list[int] = []

    async def interrupted(delivery: Delivery[Any]) -> None:
        if delivery.event.number == 1 and len(killed) < 2:
            async with database.transaction(claim=delivery.claim) as tx:
                killed.append(await tx.session.scalar(text("SELECT pg_backend_pid()")) or 0)
                await root.execute("SELECT pg_terminate_backend($1)", killed[-1])
                await tx.session.execute(text("INSERT INTO effect (consumer, key, number) VALUES ('c', 'k', 99)"))
        await write(delivery)

    async with running(database, kafka, source, consuming(happened, "c", interrupted)):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 3, what="all take effect")
    assert len(killed) == 2
    assert await effects_of(owner) == [("k", 0), ("k", 1), ("k", 2)]


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


async def test_a_handler_slower_than_every_limit_of_the_group_keeps_its_membership(
    database: Database, owner: Owner, kafka: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polling goes on while a handler works, also while it blocks the event loop."""
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    write = write_effect(database)
    handled: list[int] = []

    async def slow(delivery: Delivery[Any]) -> None:
        handled.append(1)
        await asyncio.to_thread(time.sleep, 8)
        time.sleep(4)  # noqa: ASYNC251 - blocking the loop is the point
        await write(delivery)

    for limit in ("session.timeout.ms", "max.poll.interval.ms"):
        monkeypatch.setitem(fetcher._SETTINGS, limit, 6_000)
    async with running(database, kafka, source, consuming(happened, "c", slow)):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 1, within=30, what="it ends")
    assert handled == [1], "it was not given to anybody else, nor again"


async def test_a_partition_with_enough_in_hand_is_paused(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    payload = happened(thing_id="k", note="x" * 100_000).model_dump_json().encode()
    producer = Producer({"bootstrap.servers": kafka})
    for _ in range(200):
        headers = {
            "event-id": str(uuid4()),
            "event-name": "thing.happened",
            "event-version": "1",
            "event-source": source,
            "occurred-at": "2026-01-01T00:00:00+00:00",
        }
        producer.produce(f"events.{source}", payload, "k", headers=headers)
    producer.flush(20)
    gate = asyncio.Event()
    write = write_effect(database)

    async def gated(delivery: Delivery[Any]) -> None:
        await gate.wait()
        await write(delivery)

    async with running(database, kafka, source, consuming(happened, "c", gated)) as engine:
        member = await eventually(lambda: engine._member, what="it has joined")
        await eventually(lambda: member.fetcher._paused, what="the full partition is paused")
        in_hand = [partition.bytes_in_hand for partition in member._partitions.values()]
        assert max(in_hand) < 60 * 1024 * 1024
        gate.set()
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 200, within=40, what="all run")
    assert not member.fetcher._paused


async def test_a_handler_that_blocks_the_loop_does_not_have_memory_filled(
    database: Database, owner: Owner, kafka: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is on its way to the loop counts as in hand."""
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id="k", number=n) for n in range(400)))
    monkeypatch.setattr(partition, "MAX_MESSAGES", 20)
    monkeypatch.setattr(fetcher, "_BATCH", 10)
    write = write_effect(database)
    waiting: list[int] = []

    async def blocking(delivery: Delivery[Any]) -> None:
        if not waiting:
            time.sleep(1.5)  # noqa: ASYNC251 - blocking the loop is the point
            member = engine._member
            assert member is not None
            waiting.append(max(part.messages_in_hand for part in member._partitions.values()))
        await write(delivery)

    async with running(database, kafka, source, consuming(happened, "c", blocking)) as engine:
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 400, within=60, what="all run")
    assert 0 < waiting[0] < 40


async def test_a_paused_partition_that_goes_away_and_comes_back_is_read_on(kafka: str, source: str) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    for number in range(30):
        producer.produce(f"events.{source}", b"", partition=number % 3)
    producer.flush(10)
    with fetching(kafka, source) as (work, member):
        await eventually(lambda: work.read, until=lambda read: len(read) == 3, within=30, what="it reads all three")
        work.full = True
        await eventually(lambda: member._paused, until=lambda paused: len(paused) == 3, what="all three are paused")
        with fetching(kafka, source) as (other, _):
            await eventually(lambda: other.assigned, within=30, what="another member takes one over")
            moved = set(other.assigned)
        work.full = False
        work.read.clear()
        await eventually(lambda: work.assigned, until=lambda now: len(now) == 3, within=30, what="it comes back")
        await eventually(lambda: work.read, until=moved.issubset, within=30, what="it is read again")


class Hands:
    """Work that finishes nothing: whatever was read comes again, and which places were."""

    def __init__(self) -> None:
        self.assigned: set[fetcher.Place] = set()
        self.read: set[fetcher.Place] = set()
        self.full = False

    position = None

    @property
    def is_full(self) -> bool:
        return self.full

    @property
    def has_room(self) -> bool:
        return not self.full

    def expect(self, messages: Sequence[Message]) -> None:
        pass

    def assign(self, place: fetcher.Place) -> Hands:
        self.assigned.add(place)
        return self

    def deliver(self, batches: dict[fetcher.Place, list[Message]]) -> None:
        self.read.update(batches)

    def finish(self, places: Sequence[fetcher.Place], *, within_seconds: float) -> None:
        self.assigned.difference_update(places)


@contextlib.contextmanager
def fetching(kafka: str, source: str) -> Iterator[tuple[Hands, fetcher.Fetcher]]:
    hands = Hands()
    member = fetcher.Fetcher(
        brokers={"bootstrap.servers": kafka}, group=source, topics=[f"events.{source}"], work=hands, stop_seconds=1
    )
    thread = threading.Thread(target=member.run)
    thread.start()
    try:
        yield hands, member
    finally:
        member.stop()
        thread.join(20)


async def test_an_error_in_taking_messages_over_ends_the_engine(
    database: Database, owner: Owner, kafka: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To go on would pass over what was not taken."""
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    monkeypatch.setattr(partition.Watermark, "start", lambda *_: 1 / 0)
    engine = ConsumerEngine(
        database,
        consumers=[consuming(happened, "c", write_effect(database))],
        service=source,
        bootstrap_servers=kafka,
    )
    with pytest.raises(ZeroDivisionError):
        async with asyncio.timeout(30):
            await engine.run(asyncio.Event())


async def test_a_client_that_breaks_down_leaves_no_work_behind(
    database: Database, owner: Owner, kafka: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    inside, ended = asyncio.Event(), asyncio.Event()

    async def stuck(_: Delivery[Any]) -> None:
        inside.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def break_down() -> None:
        await inside.wait()
        monkeypatch.setattr(fetcher.Fetcher, "_keep_pace", lambda *_: 1 / 0)

    engine = ConsumerEngine(
        database, consumers=[consuming(happened, "c", stuck)], service=source, bootstrap_servers=kafka
    )
    breaking = asyncio.create_task(break_down())
    with pytest.raises(ZeroDivisionError):
        async with asyncio.timeout(30):
            await engine.run(asyncio.Event())
    await breaking
    assert ended.is_set()


async def test_work_that_could_not_be_stopped_in_time_ends_when_the_loop_is_free_again(
    database: Database, owner: Owner, kafka: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler blocks the loop for longer than a stop waits: what it has in hand belongs to the next owner."""
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id="k", number=n) for n in range(3)))
    monkeypatch.setattr(bus_engine, "_GRACE_SECONDS", 0.2)
    handled: list[int] = []
    ended = asyncio.Event()

    async def blocking(delivery: Delivery[Any]) -> None:
        handled.append(delivery.event.number)
        member = engine._member
        assert member is not None
        revoking = threading.Thread(target=member.finish, args=[list(member._partitions)], kwargs={"within_seconds": 0})
        revoking.start()
        revoking.join()  # blocking the loop is the point
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with running(database, kafka, source, consuming(happened, "c", blocking)) as engine:
        await eventually(ended.is_set, what="the handler is ended")
    assert handled == [0]


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


async def test_a_topic_that_is_not_there_yet_is_waited_for(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    later = f"later{source}"
    happened = event_class(later)
    async with running(database, kafka, later, consuming(happened, "c", write_effect(database))):
        admin = AdminClient({"bootstrap.servers": kafka})
        admin.create_topics([NewTopic(f"events.{later}", 3, 1)], operation_timeout=15)[f"events.{later}"].result()
        await publish(database, kafka, owner, happened(thing_id="k", number=1))
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 1, within=40, what="it is read")
    admin.delete_topics([f"events.{later}"])


async def test_a_broker_that_is_stopped_for_a_while_is_waited_for(
    database: Database, owner: Owner, source: str, stack: Stack
) -> None:
    kafka = stack.topology.kafka_address
    happened = event_class(source)
    consumer = consuming(happened, "c", write_effect(database))
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    async with running(database, kafka, source, consumer) as engine:
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 1, what="the first is handled")
        pid = stack.pid("kafka")
        os.kill(pid, signal.SIGSTOP)
        try:
            stopped = time.monotonic()
            await eventually(lambda: time.monotonic() - stopped > 12, what="longer than a session lasts")
        finally:
            os.kill(pid, signal.SIGCONT)
        await publish(database, kafka, owner, happened(thing_id="k", number=2))
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 2, within=40, what="it goes on")
        assert engine.ready


async def test_the_engine_takes_no_partition_before_its_database_answers(kafka: str, source: str) -> None:
    nowhere = Database(DatabaseAddress("127.0.0.1", 1, "x", "x", "x"), application_name="test")
    happened = event_class(source)
    async with running(nowhere, kafka, source, consuming(happened, "c", write_effect(nowhere))) as engine:
        before = time.monotonic()
        await eventually(lambda: time.monotonic() - before > 1, what="it had time to join")
        assert not engine.ready
        assert engine._member is None
    await nowhere.close()


@pytest.mark.parametrize(("kept", "refused"), [(29, False), (30, True), (31, True), (None, True)])
async def test_an_inbox_that_forgets_before_its_topics_do_stops_the_start(kept: int | None, refused: bool) -> None:
    retentions = {"events.order": timedelta(days=kept) if kept is not None else None}
    expectation = pytest.raises(InboxForgetsTooSoon, match="INBOX_RETENTION_DAYS") if refused else nullcontext()
    with expectation:
        check_retentions(retentions, timedelta(days=30))


async def test_the_engine_asks_the_broker_how_long_its_topics_keep_events(
    database: Database, kafka: str, source: str
) -> None:
    happened = event_class(source)
    engine = ConsumerEngine(
        database,
        consumers=[consuming(happened, "c", write_effect(database))],
        service=source,
        bootstrap_servers=kafka,
        inbox_retention=timedelta(days=1),
    )
    with pytest.raises(InboxForgetsTooSoon, match=f"events.{source}"):
        await engine.run(asyncio.Event())
    assert topic_retentions({"bootstrap.servers": kafka}, ["events.is-not-there"]) == {}


@pytest.mark.parametrize(
    ("settings", "longest"),
    [
        ({"retention.ms": "86400000", "segment.ms": "43200000"}, timedelta(days=1.5)),
        ({"retention.ms": "-1"}, None),
        ({"retention.ms": str(2**63 - 1)}, None),
        ({"retention.ms": "86400000", "cleanup.policy": "compact"}, None),
    ],
)
def test_a_topic_may_keep_a_record_for_its_retention_and_a_segment_more(
    kafka: str, settings: dict[str, str], longest: timedelta | None
) -> None:
    admin, topic = AdminClient({"bootstrap.servers": kafka}), f"kept-{uuid4().hex[:10]}"
    admin.create_topics([NewTopic(topic, 1, 1, config=settings)], operation_timeout=15)[topic].result()
    assert topic_retentions({"bootstrap.servers": kafka}, [topic]) == {topic: longest}
    admin.delete_topics([topic])
