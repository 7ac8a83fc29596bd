"""Keys side by side, one key in order, and an offset that passes nothing unfinished."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

import pytest
from bus_lab import event_class
from confluent_kafka import Producer
from consuming_lab import Owner, committed, consuming, effects_of, publish, running, write_effect

from service_platform.database import Database
from service_platform.event_bus import Delivery
from world.waiting import eventually

pytestmark = pytest.mark.usefixtures("effect_table")


class Gate:
    """A handler that lets events through when told to, and remembers what was in it at once."""

    def __init__(self, database: Database) -> None:
        self.inside: set[tuple[str, int]] = set()
        self.most = 0
        self.together: set[str] = set()
        self._open: dict[int, asyncio.Event] = defaultdict(asyncio.Event)
        self._write = write_effect(database)

    async def __call__(self, delivery: Delivery[Any]) -> None:
        key, number = delivery.event.thing_id, delivery.event.number
        if any(other == key for other, _ in self.inside):
            self.together.add(key)
        self.inside.add((key, number))
        self.most = max(self.most, len(self.inside))
        try:
            await self._open[number].wait()
            await self._write(delivery)
        finally:
            self.inside.discard((key, number))

    def open(self, *numbers: int) -> None:
        for number in numbers:
            self._open[number].set()


def same_partition(kafka: str, source: str, count: int) -> list[str]:
    """`count` keys that Kafka puts into one partition."""
    producer = Producer({"bootstrap.servers": kafka})
    placed: dict[int, list[str]] = defaultdict(list)
    for number in range(count * 12):
        key = f"key{number}"
        producer.produce(
            f"events.{source}",
            b"{}",
            key,
            headers={"event-name": b"nobody.cares"},
            on_delivery=lambda _, message, key=key: placed[message.partition()].append(key),
        )
    producer.flush(10)
    return max(placed.values(), key=len)[:count]


async def test_a_slow_key_does_not_hold_up_the_others_of_its_partition(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    slow, *others = same_partition(kafka, source, 5)
    gate = Gate(database)
    gate.open(2, 3)
    events = [happened(thing_id=slow, number=1), happened(thing_id=slow, number=2)]
    await publish(database, kafka, owner, *events, *(happened(thing_id=key, number=3) for key in others))
    async with running(database, kafka, source, consuming(happened, "c", gate)):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 4, what="the others take effect")
        assert gate.inside == {(slow, 1)}, "the second of the key waits for the first"
        gate.open(1)
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 6, what="the slow key goes on")
    assert [number for key, number in await effects_of(owner) if key == slow] == [1, 2]
    assert gate.together == set()


async def test_the_offset_does_not_pass_a_message_in_hand(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    """Message 11 ends before 10, then the process is gone: 10 comes again."""
    happened = event_class(source)
    slow, quick = same_partition(kafka, source, 2)
    before = 2 * 12
    gate = Gate(database)
    gate.open(2)
    await publish(
        database,
        kafka,
        owner,
        happened(thing_id=slow, number=1),
        *(happened(thing_id=quick, number=2) for _ in range(9)),
    )
    async with running(database, kafka, source, consuming(happened, "c", gate)) as engine:
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 9, what="those after it are done")
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, source),
            until=lambda n: n == before,
            what="what lies before it is committed",
        )
        assert engine._member is not None
        for partition in engine._member._partitions.values():
            await partition.stop(within_seconds=0)  # as a crash would
    assert await asyncio.to_thread(committed, kafka, source, source) == before
    async with running(database, kafka, source, consuming(happened, "c", write_effect(database))):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 10, what="it comes again")
    assert (slow, 1) in await effects_of(owner)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_no_more_are_in_hand_at_once_than_allowed(
    database: Database, owner: Owner, kafka: str, source: str, concurrency: int
) -> None:
    happened = event_class(source)
    gate = Gate(database)
    await publish(database, kafka, owner, *(happened(thing_id=f"k{number}", number=number) for number in range(12)))
    async with running(database, kafka, source, consuming(happened, "c", gate), concurrency=concurrency):
        for number in range(12):
            if number == 0:
                await eventually(
                    lambda: gate.inside, until=lambda inside: len(inside) == concurrency, what="it is full"
                )
            gate.open(number)
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 12, what="all take effect")
    assert gate.most == concurrency


async def test_a_stop_finishes_what_is_in_a_handler_and_begins_nothing_else(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    gate = Gate(database)
    events = [happened(thing_id=f"k{key}", number=number) for key in range(6) for number in range(5)]
    await publish(database, kafka, owner, *events)

    async def open_when_stopping(partitions: list[Any]) -> None:
        await eventually(lambda: all(p._stopping.is_set() for p in partitions), what="it is asked to stop")
        gate.open(*range(5))

    async with running(database, kafka, source, consuming(happened, "c", gate), concurrency=4) as engine:
        await eventually(lambda: gate.inside, until=lambda inside: len(inside) == 4, what="four are in hand")
        in_hand = sorted(gate.inside)
        assert engine._member is not None
        opening = asyncio.create_task(open_when_stopping(list(engine._member._partitions.values())))
    await opening
    assert sorted(await effects_of(owner)) == in_hand, "neither what is behind them nor what waits for a slot"


async def test_members_that_come_and_go_under_load_lose_nothing_and_keep_the_order_of_each_key(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    consumer = consuming(happened, "c", write_effect(database))
    events = [happened(thing_id=f"k{key}", number=number) for number in range(25) for key in range(20)]
    async with running(database, kafka, source, consumer):
        await publish(database, kafka, owner, *events[:250])
        for _ in range(2):
            async with running(database, kafka, source, consumer):
                await publish(database, kafka, owner, *events[250:375])
                del events[250:375]
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) >= 500, within=40, what="all are done")
    seen = await effects_of(owner)
    assert len(seen) == len(set(seen)) == 500
    for key in range(20):
        assert [number for k, number in seen if k == f"k{key}"] == list(range(25))
