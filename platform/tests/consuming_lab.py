"""What the tests of consuming share: consumers that leave effects, a running engine, and what was committed."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Literal, TypeAlias

import asyncpg
from bus_lab import relaying_to_kafka
from confluent_kafka import Consumer as KafkaConsumer
from confluent_kafka import Producer, TopicPartition, cimpl
from sqlalchemy import text

from service_platform.database import Database
from service_platform.event_bus import Consumer, ConsumerEngine, Delivery, Event, EventBus
from service_platform.inbox import RetryPolicy
from world.waiting import eventually

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Handler = Callable[[Delivery[Any]], Awaitable[None]]


async def make_effects(owner: Owner) -> None:
    """Where consumers leave their effects."""
    await owner.execute(
        "CREATE TABLE effect (at bigint GENERATED ALWAYS AS IDENTITY, consumer text, key text, number int);"
        "GRANT ALL ON effect TO platform_app"
    )


def consuming(
    event: type[Event], name: str, handler: Handler, on_dead: Literal["release", "hold"] = "release"
) -> Consumer[Any]:
    class Reacts(Consumer[Event]):
        async def handle(self, delivery: Delivery[Event]) -> None:
            await handler(delivery)

    Reacts.name, Reacts.event, Reacts.on_dead = name, event, on_dead
    return Reacts()


def write_effect(database: Database, consumer: str = "c") -> Handler:
    async def handle(delivery: Delivery[Any]) -> None:
        async with database.transaction(claim=delivery.claim) as tx:
            await tx.session.execute(
                text("INSERT INTO effect (consumer, key, number) VALUES (:c, :k, :n)"),
                {"c": consumer, "k": delivery.event.thing_id, "n": delivery.event.number},
            )

    return handle


@contextlib.asynccontextmanager
async def running(
    database: Database, kafka: str, service: str, *consumers: Consumer[Any], concurrency: int = 8
) -> AsyncIterator[ConsumerEngine]:
    """An engine of `service` until the end of the block. Retries come quickly."""
    engine = ConsumerEngine(
        database,
        consumers=consumers,
        service=service,
        bootstrap_servers=kafka,
        concurrency=concurrency,
        retry=RetryPolicy(first_seconds=0.05, limit_seconds=0.2),
    )
    stop = asyncio.Event()
    task = asyncio.create_task(engine.run(stop))
    try:
        yield engine
    finally:
        stop.set()
        async with asyncio.timeout(20):
            await task


async def publish(database: Database, kafka: str, owner: Owner, *events: Event) -> None:
    async with database.transaction() as tx:
        for event in events:
            await EventBus(event.source).publish(event, tx)
    async with relaying_to_kafka(database, kafka, poll_seconds=0.05):
        await eventually(
            lambda: owner.fetchval("SELECT count(*) FROM outbox_queue"),
            until=lambda n: n == 0,
            what="all events are sent",
        )


async def effects_of(owner: Owner, consumer: str = "c") -> list[tuple[str, int]]:
    rows = await owner.fetch("SELECT key, number FROM effect WHERE consumer = $1 ORDER BY at", consumer)
    return [(row["key"], row["number"]) for row in rows]


def committed(kafka: str, group: str, source: str) -> int:
    """The sum of the group's committed offsets over the topic's three partitions."""
    consumer = KafkaConsumer({"bootstrap.servers": kafka, "group.id": group})
    offsets = consumer.committed([TopicPartition(f"events.{source}", n) for n in range(3)], timeout=10)
    consumer.close()
    return sum(max(0, offset.offset) for offset in offsets)


def produce_again(kafka: str, source: str, count: int = 1) -> int:
    """Send what stands in the topic again, as a relay does that was killed before it marked. Returns how many."""
    reader = KafkaConsumer({"bootstrap.servers": kafka, "group.id": "again", "enable.auto.commit": False})
    places = [TopicPartition(f"events.{source}", n, 0) for n in range(3)]
    ends = {place.partition: reader.get_watermark_offsets(place, timeout=10)[1] for place in places}
    reader.assign(places)
    messages = []
    while len(messages) < sum(ends.values()):
        messages += reader.consume(100, timeout=1)
    reader.close()
    producer = Producer({"bootstrap.servers": kafka})
    for _ in range(count):
        for message in messages:
            producer.produce(message.topic(), message.value(), message.key(), headers=message.headers())
    producer.flush(10)
    return count * len(messages)


def produce_with_header_names(kafka: str, topic: str, value: bytes, *names: bytes) -> None:
    """Send a record whose header names are any bytes, as clients of other languages can and ours cannot."""
    library = ctypes.CDLL(cimpl.__file__)
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_headers_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_header_add.argtypes = [
        ctypes.c_void_p,
        *(ctypes.c_char_p, ctypes.c_ssize_t),
        *(ctypes.c_char_p, ctypes.c_ssize_t),
    ]
    conf = ctypes.c_void_p(library.rd_kafka_conf_new())
    library.rd_kafka_conf_set(conf, b"bootstrap.servers", kafka.encode(), None, ctypes.c_size_t(0))
    producer = ctypes.c_void_p(library.rd_kafka_new(0, conf, None, ctypes.c_size_t(0)))
    headers = ctypes.c_void_p(library.rd_kafka_headers_new(ctypes.c_size_t(len(names))))
    for name in names:
        library.rd_kafka_header_add(headers, name, len(name), b"v", 1)
    to_topic, with_value, with_headers, with_flags, copy = 1, 4, 10, 7, 2
    sent = library.rd_kafka_producev(
        producer,
        *(ctypes.c_int(to_topic), ctypes.c_char_p(topic.encode())),
        *(ctypes.c_int(with_flags), ctypes.c_int(copy)),
        *(ctypes.c_int(with_value), ctypes.c_char_p(value), ctypes.c_size_t(len(value))),
        *(ctypes.c_int(with_headers), headers),
        ctypes.c_int(0),
    )
    assert sent == 0
    assert library.rd_kafka_flush(producer, 10_000) == 0
    library.rd_kafka_destroy(producer)
