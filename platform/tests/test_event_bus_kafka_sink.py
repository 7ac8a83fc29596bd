"""Delivering to a real broker: acknowledged or pending, and never out of order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import psutil
import pytest
from bus_lab import event_class, first_arrivals, make_topics, reading, relaying_to_kafka
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from outbox_lab import Owner, parked, pending, publish, tries

from native.stack import Stack
from service_platform.database import Database
from service_platform.event_bus import EventBus, KafkaSink
from service_platform.outbox import OutboxRow, SinkUnavailable
from world.processes import family, stopped
from world.waiting import eventually


def rows(source: str, *names: str) -> list[OutboxRow]:
    return [
        OutboxRow(position, hash(name.split("/")[0]), f"events.{source}", name.split("/")[0], "{}", name.encode())
        for position, name in enumerate(names, start=1)
    ]


@pytest.fixture
async def sink(kafka: str) -> AsyncIterator[KafkaSink]:
    sink = KafkaSink(kafka)
    yield sink
    await sink.close()


@contextlib.contextmanager
def broker_stopped(stack: Stack) -> Iterator[None]:
    with stopped(family(stack, "kafka")):
        yield


@contextlib.asynccontextmanager
async def limited_topic(kafka: str, max_message_bytes: int) -> AsyncIterator[str]:
    """A topic of one partition that takes less than the client would send."""
    name = f"small{uuid4().hex[:8]}"
    await make_topics(kafka, [f"events.{name}"], partitions=1, max_message_bytes=max_message_bytes)
    yield name
    AdminClient({"bootstrap.servers": kafka}).delete_topics([f"events.{name}"])


@pytest.fixture
async def small_topic(kafka: str) -> AsyncIterator[str]:
    async with limited_topic(kafka, 2000) as name:
        yield name


async def test_a_sink_connects_before_it_has_anything_to_send(kafka: str) -> None:
    """Its clients' producer ids may take half a second, in which a delivery would hold its shards."""
    port = int(kafka.rpartition(":")[2])

    def connected() -> int:
        there = psutil.Process().net_connections("tcp")
        return sum(1 for one in there if one.raddr and one.raddr.port == port and one.status == psutil.CONN_ESTABLISHED)

    before = connected()
    sink = KafkaSink(kafka)
    await eventually(connected, until=lambda now: now >= before + 2, what="both clients are connected")
    await sink.close()


async def test_a_committed_event_reaches_its_topic_with_its_headers(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    async with relaying_to_kafka(database, kafka), database.transaction() as tx:
        await EventBus(source).publish(happened(thing_id="t1", number=7), tx)
    async with relaying_to_kafka(database, kafka):
        await eventually(lambda: pending(owner), until=lambda n: n == 0, what="it is marked as sent")
    with reading(kafka, source) as reader:
        (message,) = await eventually(reader.read, what="the record is in the topic")
    headers = {name: value.decode() for name, value in message.headers() or [] if isinstance(value, bytes)}
    assert message.key() == b"t1"
    assert happened.parse(message.value() or b"").number == 7
    assert headers["event-name"] == "thing.happened"
    assert headers["event-source"] == source
    assert headers["event-id"] == str(await owner.fetchval("SELECT message_id FROM outbox"))


async def test_an_unknown_topic_is_an_outage_of_that_topic_only(sink: KafkaSink, source: str, kafka: str) -> None:
    mixed = [*rows(source, "k/here"), *rows("nowhere", "k/lost")]
    mixed[1] = mixed[1]._replace(position=2)
    async with asyncio.timeout(4):
        with pytest.raises(SinkUnavailable) as caught:
            await sink.deliver(mixed)
    assert caught.value.acknowledged == {1}
    assert caught.value.destinations == {"events.nowhere"}


async def test_a_broker_that_is_not_there_is_an_outage_of_everything() -> None:
    sink = KafkaSink("127.0.0.1:1")
    async with asyncio.timeout(6):
        with pytest.raises(SinkUnavailable):
            await sink.probe()
        with pytest.raises(SinkUnavailable) as caught:
            await sink.deliver(rows("any", "k/e1"))
    assert not caught.value.destinations
    await sink.close()


async def test_what_the_broker_refuses_is_told_from_an_outage(sink: KafkaSink, small_topic: str) -> None:
    (big,) = rows(small_topic, "k/big")
    big = big._replace(payload=b"x" * 5000)
    answer = await sink.deliver([big])
    assert not answer.acknowledged
    assert "size too large" in answer.refused[1].lower()
    (small,) = rows(small_topic, "k/small")
    assert (await sink.deliver([small])).acknowledged == {1}


async def test_a_broker_that_does_not_answer_is_an_outage_and_no_verdict(
    sink: KafkaSink, source: str, stack: Stack
) -> None:
    first, second = rows(source, "k/e1", "k/e2")
    assert (await sink.deliver([first])).acknowledged == {1}
    with broker_stopped(stack), pytest.raises(SinkUnavailable) as caught:
        await sink.deliver([second])
    assert not caught.value.acknowledged
    assert not caught.value.destinations


@pytest.mark.parametrize("before", [[], ["k/first"]], ids=["a new producer", "one that has written there"])
async def test_what_is_sent_behind_a_refused_record_does_not_arrive(
    sink: KafkaSink, kafka: str, before: list[str]
) -> None:
    """The two are too large for one request together, so the broker judges each by itself."""
    async with limited_topic(kafka, 650_000) as topic:
        for row in rows(topic, *before):
            assert (await sink.deliver([row])).acknowledged == {1}
        big, after = rows(topic, "k/big", "k/after")
        answer = await sink.deliver(
            [big._replace(payload=b"x" * 700_000), after._replace(payload=b"k/after" + b"." * 600_000)]
        )
        assert not answer.acknowledged
        assert set(answer.refused) == {1}
        (last,) = rows(topic, "k/last")
        assert (await sink.deliver([last])).acknowledged == {1}
        with reading(kafka, topic, partitions=1) as reader:
            values = await eventually(reader.values, until=lambda seen: "k/last" in seen, what="the last one is there")
        assert [value[:10] for value in values] == [*before, "k/last"]


async def test_a_record_that_the_broker_refuses_is_parked_and_its_key_waits(
    database: Database, owner: Owner, kafka: str, small_topic: str
) -> None:
    big, topic = "k1/" + "x" * 5000, f"events.{small_topic}"
    for names in (["k1/e1"], [big], ["k1/e3", *(f"k2/{n:03}" for n in range(100))]):
        await publish(database, *names, destination=topic)
    async with relaying_to_kafka(database, kafka, poll_seconds=0.1):
        await eventually(lambda: parked(owner), until=lambda names: names == [big], within=30, what="it is parked")
        await eventually(lambda: pending(owner), until=lambda n: n == 1, within=30, what="only its follower waits")
    assert await tries(owner) == {big: 3, "k1/e3": 0}, "its neighbours burnt no try"


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> list[Producer]:
    """The producers that were purged and replaced."""
    replaced: list[Producer] = []
    discard = KafkaSink._discard

    def note(sink: KafkaSink, producer: Producer) -> None:
        discard(sink, producer)
        replaced.append(producer)

    monkeypatch.setattr(KafkaSink, "_discard", note)
    return replaced


async def test_order_survives_a_broker_that_is_stopped_in_mid_batch(
    database: Database, owner: Owner, source: str, stack: Stack, replaced: list[Producer]
) -> None:
    kafka = stack.topology.kafka_address
    names: list[str] = []
    async with relaying_to_kafka(database, kafka, batch=200, poll_seconds=0.1):
        for outage in (1, 2):
            more = [f"k{key}/{outage}{n:03}" for n in range(60) for key in range(20)]
            names += more
            await publish(database, *more[:300], destination=f"events.{source}")
            await eventually(lambda: pending(owner), until=lambda n: n < 300, what="the batch is on its way")
            with broker_stopped(stack):
                for start in range(300, len(more), 300):
                    await publish(database, *more[start : start + 300], destination=f"events.{source}")
                await eventually(
                    lambda: len(replaced), until=lambda n, outage=outage: n == outage, what="the producer is replaced"
                )
                assert await pending(owner) > 0, "the broker was stopped in the middle"
            await eventually(lambda: pending(owner), until=lambda n: n == 0, within=40, what="all is sent afterwards")
    with reading(kafka, source) as reader:
        values = await eventually(
            reader.values, until=lambda seen: len(set(seen)) == len(names), within=30, what="all records are there"
        )
    arrived = first_arrivals(values)
    for key in range(20):
        mine = [name for name in arrived if name.startswith(f"k{key}/")]
        assert mine == sorted(mine)
