"""A consumer that is slower than its topic: it stays a member, and takes no more in hand than it can hold."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

import pytest
from bus_lab import event_class
from confluent_kafka import Message, Producer
from consuming_lab import Owner, consuming, effects_of, publish, running, write_effect

from service_platform.database import Database
from service_platform.event_bus import Delivery, fetcher, partition
from world.waiting import eventually

pytestmark = pytest.mark.usefixtures("effect_table")


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
