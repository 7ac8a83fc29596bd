"""A client that has lost its way to the cluster is replaced (librdkafka 5301: a broker that has just started names no
broker, the client then forgets all of them, connects to nothing any more and reports no error).

When it does so cannot be chosen: the client here has a broker that takes connections and never answers.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from bus_lab import event_class
from consuming_lab import Owner, consuming, effects_of, publish, running, write_effect

from service_platform.database import Database
from service_platform.event_bus import Delivery, KafkaSink, fetcher, kafka_sink
from service_platform.event_bus.fetcher import Fetcher, Work
from service_platform.outbox import OutboxRow, SinkUnavailable
from world.waiting import eventually


class NoWork(Work):
    """Of a member that never gets any."""


@pytest.fixture
def silent_broker() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every consumer that is made."""
    made: list[object] = []

    class Counted(fetcher.KafkaConsumer):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(fetcher, "KafkaConsumer", Counted)
    return made


@pytest.fixture
def producers(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every producer that is made."""
    made: list[object] = []

    class Counted(kafka_sink.Producer):
        def __init__(self, *arguments: Any, **settings: Any) -> None:
            super().__init__(*arguments, **settings)
            made.append(self)

    monkeypatch.setattr(kafka_sink, "Producer", Counted)
    monkeypatch.setattr(kafka_sink, "_METADATA_SECONDS", 0.05)
    return made


async def number_of(made: list[object]) -> int:
    return len(made)


async def test_a_member_that_stays_without_a_coordinator_is_replaced_and_not_ready(
    silent_broker: str, source: str, members: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "_PATIENCE_SECONDS", 0.3)
    member = Fetcher(
        brokers={"bootstrap.servers": silent_broker},
        group=source,
        topics=[f"events.{source}"],
        work=NoWork(),
        stop_seconds=1,
    )
    running = asyncio.create_task(asyncio.to_thread(member.run))
    try:
        await eventually(lambda: number_of(members), until=lambda n: n >= 3, what="it is replaced")
        assert not member.ready
    finally:
        member.stop()
        async with asyncio.timeout(20):
            await running


@pytest.mark.usefixtures("effect_table")
async def test_a_member_with_a_coordinator_stays_also_when_it_has_nothing_to_do(
    database: Database, kafka: str, source: str, members: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = 8.0
    monkeypatch.setattr(fetcher, "_PATIENCE_SECONDS", patience)
    over_at = time.monotonic() + 1.5 * patience

    async def is_over() -> bool:
        return time.monotonic() > over_at

    async with running(database, kafka, source, consuming(event_class(source), "c", write_effect(database))) as engine:
        await eventually(is_over, what="its patience is over")
        assert engine.ready
    assert len(members) == 1


@pytest.mark.usefixtures("effect_table")
async def test_what_a_replaced_member_had_in_hand_takes_effect_once_and_in_order(
    database: Database, owner: Owner, kafka: str, source: str, members: list[object]
) -> None:
    happened = event_class(source)
    write, held = write_effect(database), asyncio.Event()

    async def hold_once(delivery: Delivery[Any]) -> None:
        if delivery.event.number == 10 and not held.is_set():
            held.set()
            await asyncio.Event().wait()
        await write(delivery)

    await publish(database, kafka, owner, *(happened(thing_id="k", number=n) for n in range(30)))
    async with running(database, kafka, source, consuming(happened, "c", hold_once)):
        async with asyncio.timeout(30):
            await held.wait()
        with pytest.MonkeyPatch.context() as impatient:
            impatient.setattr(fetcher, "_PATIENCE_SECONDS", -1.0)
            await eventually(lambda: number_of(members), until=lambda n: n >= 3, what="it is replaced")
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) >= 30, what="all take effect")
    assert await effects_of(owner) == [("k", n) for n in range(30)]


async def test_a_producer_that_no_probe_gets_an_answer_by_is_replaced(
    silent_broker: str, producers: list[object]
) -> None:
    sink = KafkaSink(silent_broker)
    at_first = len(producers)
    for _ in range(2 * kafka_sink._PROBES_A_CLIENT + 1):
        with pytest.raises(SinkUnavailable):
            await sink.probe()
    assert len(producers) == at_first + 2
    await sink.close()


async def test_a_producer_that_knows_no_topic_and_gets_no_answer_is_replaced(
    silent_broker: str, source: str, producers: list[object]
) -> None:
    sink = KafkaSink(silent_broker)
    at_first = len(producers)
    for _ in range(2):
        with pytest.raises(SinkUnavailable):
            await sink.deliver([OutboxRow(1, 1, f"events.{source}", "k", "{}", b"{}")])
    assert len(producers) == at_first + 1
    await sink.close()
