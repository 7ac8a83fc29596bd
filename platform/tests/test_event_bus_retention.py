"""An inbox remembers for longer than its topics keep events, or the consumer does not start."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from datetime import timedelta
from uuid import uuid4

import pytest
from bus_lab import event_class
from confluent_kafka.admin import AdminClient, NewTopic
from consuming_lab import consuming, write_effect

from service_platform.database import Database
from service_platform.event_bus import ConsumerEngine
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
