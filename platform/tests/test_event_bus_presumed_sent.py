"""A batch is refused, and the one behind it is taken: the client calls both delivered, the sink does not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import pytest
from confluent_kafka import Consumer, TopicPartition
from mock_broker import MockBroker, mock_broker

from service_platform.event_bus import KafkaSink, kafka_sink
from service_platform.outbox import OutboxRow, SinkUnavailable
from world.waiting import eventually

_LARGE = b"." * 600_000  # two of these do not go into one batch


@pytest.fixture
def broker() -> Iterator[MockBroker]:
    with mock_broker("events.x") as broker:
        yield broker


@pytest.fixture
async def sink(broker: MockBroker) -> AsyncIterator[KafkaSink]:
    sink = KafkaSink(broker.address)
    yield sink
    await sink.close()


def rows(*names: str) -> list[OutboxRow]:
    keys = [name.partition("/")[0] for name in names]
    return [
        OutboxRow(at, hash(key), "events.x", key, "{}", f"{name} ".encode() + _LARGE)
        for at, (key, name) in enumerate(zip(keys, names, strict=True), start=1)
    ]


async def sent_by(sink: KafkaSink, left: Sequence[OutboxRow]) -> Sequence[OutboxRow]:
    """One pass, as the relay makes it; what is left for the next one."""
    try:
        acknowledged = (await sink.deliver(left)).acknowledged
    except SinkUnavailable as outage:
        acknowledged = outage.acknowledged
    return [row for row in left if row.position not in acknowledged]


def in_the_topic(broker: MockBroker) -> list[str]:
    """The names of the records, in their order."""
    reader = Consumer({"bootstrap.servers": broker.address, "group.id": "reader"})
    place = TopicPartition(broker.topic, 0, 0)
    _, end = reader.get_watermark_offsets(place, timeout=10)
    reader.assign([place])
    names: list[str] = []
    while len(names) < end:
        message = reader.poll(10)
        assert message is not None, "the mock broker gives no record"
        assert message.error() is None
        names.append((message.value() or b"").split(b" ")[0].decode())
    reader.close()
    return names


async def test_what_was_refused_while_a_later_batch_was_taken_stays_pending_and_is_sent(
    broker: MockBroker, sink: KafkaSink
) -> None:
    broker.refuse_next_produce()
    left: Sequence[OutboxRow] = rows("a/1", "b/1", "c/1")

    left = await sent_by(sink, left)
    assert [row.key for row in left] == ["a"]
    assert "a/1" not in in_the_topic(broker), "the client reported it all the same, or this proves nothing"

    async def nothing_is_left() -> bool:
        nonlocal left
        left = await sent_by(sink, left)
        return not left

    await eventually(nothing_is_left, what="the next pass sends it")
    assert sorted(in_the_topic(broker)) == ["a/1", "b/1", "c/1"]


@pytest.mark.parametrize("remembered", [True, False])
async def test_a_broker_that_may_have_forgotten_the_producer_gets_one_row_of_a_key_at_a_time(
    broker: MockBroker, sink: KafkaSink, monkeypatch: pytest.MonkeyPatch, remembered: bool
) -> None:
    assert await sent_by(sink, rows("z/1")) == []
    monkeypatch.setattr(kafka_sink, "_REMEMBERED_SECONDS", 3600.0 if remembered else 0.0)
    broker.refuse_next_produce()

    left = await sent_by(sink, rows("a/1", "a/2"))

    # The mock forgets every producer at once: with the time in which a real one remembers, both were in flight.
    found = in_the_topic(broker)
    assert (found == ["z/1", "a/2"]) if remembered else (found, left) == (["z/1", "a/1", "a/2"], [])
