"""An inbox remembers for longer than its topics keep events, or the consumer does not start."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import timedelta
from uuid import uuid4

import pytest
from bus_lab import event_class
from confluent_kafka.admin import AdminClient, NewTopic
from consuming_lab import consuming, write_effect

from service_platform.database import Database
from service_platform.event_bus import ConsumerEngine, engine, retention
from service_platform.event_bus.retention import InboxForgetsTooSoon, check_retentions, topic_retentions
from world.waiting import eventually


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
    consumers = ConsumerEngine(
        database,
        consumers=[consuming(happened, "c", write_effect(database))],
        service=source,
        bootstrap_servers=kafka,
        inbox_retention=timedelta(days=1),
    )
    with pytest.raises(InboxForgetsTooSoon, match=f"events.{source}"):
        await consumers.run(asyncio.Event())
    assert topic_retentions({"bootstrap.servers": kafka}, ["events.is-not-there"]) == {}


async def test_a_broker_that_does_not_answer_at_the_start_is_waited_for(
    database: Database, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def ask(brokers: Mapping[str, str], topics: Sequence[str]) -> Mapping[str, timedelta | None]:
        asked.append(topics)
        return topic_retentions(brokers, topics)

    monkeypatch.setattr(retention, "_ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(engine, "topic_retentions", ask)
    stop = asyncio.Event()
    with socket.create_server(("127.0.0.1", 0), backlog=50) as silent:  # takes connections, and that is all
        consumers = ConsumerEngine(
            database,
            consumers=[consuming(event_class(source), "c", write_effect(database))],
            service=source,
            bootstrap_servers=f"127.0.0.1:{silent.getsockname()[1]}",
        )
        running = asyncio.create_task(consumers.run(stop))
        await eventually(lambda: len(asked), until=lambda n: n > 2, what="it asks again")
        assert not running.done()
        stop.set()
        await running


@pytest.mark.parametrize(
    ("settings", "longest"),
    [
        ({"retention.ms": "86400000", "segment.ms": "43200000"}, timedelta(days=1.5)),
        ({"retention.ms": "-1"}, None),
        ({"retention.ms": str(2**63 - 1)}, None),
        ({"retention.ms": "86400000", "cleanup.policy": "compact"}, None),
    ],
)
async def test_a_topic_may_keep_a_record_for_its_retention_and_a_segment_more(
    kafka: str, settings: dict[str, str], longest: timedelta | None
) -> None:
    admin, topic = AdminClient({"bootstrap.servers": kafka}), f"kept-{uuid4().hex[:10]}"
    admin.create_topics([NewTopic(topic, 1, 1, config=settings)], operation_timeout=15)[topic].result()
    found = await eventually(
        lambda: topic_retentions({"bootstrap.servers": kafka}, [topic]), what="the broker knows its new topic"
    )
    assert found == {topic: longest}
    admin.delete_topics([topic])
