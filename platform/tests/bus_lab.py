"""What the tests of the event bus share: events of a service of their own, and a reader of its topic."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from outbox_lab import relaying

from service_platform.database import Database
from service_platform.event_bus import Event, KafkaSink
from service_platform.outbox import Relay
from world.waiting import eventually


def event_class(source: str, name: str = "thing.happened", version: int = 1) -> Any:
    """An event class of `source`; a test's source is only known when it runs."""
    declared = {"event_name": name, "version": version, "source": source, "key_field": "thing_id"}

    class Happened(Event):
        event_name: ClassVar[str] = declared["event_name"]  # type: ignore[assignment]
        version: ClassVar[int] = declared["version"]  # type: ignore[assignment]
        source: ClassVar[str] = declared["source"]  # type: ignore[assignment]
        key_field: ClassVar[str] = "thing_id"
        thing_id: str
        number: int = 0
        note: str = ""

    return Happened


async def make_topics(bootstrap_servers: str, names: list[str], *, partitions: int, max_message_bytes: int) -> None:
    """Topics that the broker gives to whoever asks: it does so a moment after it has confirmed that they are made.

    A broker that stood still takes no topics until it has registered anew, so it is asked again.
    """
    settings = {"max.message.bytes": str(max_message_bytes)}
    wanted = [NewTopic(name, partitions, 1, config=settings) for name in names]
    await eventually(
        lambda: asyncio.to_thread(_refusals, bootstrap_servers, wanted),
        until=lambda refusals: not refusals,
        within=60,
        every=0.2,
        what="the broker makes the topics",
    )
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    await eventually(
        lambda: asyncio.to_thread(_missing, admin, names, partitions),
        until=lambda missing: not missing,
        within=60,
        what="the broker gives the topics",
    )


def _refusals(bootstrap_servers: str, wanted: list[NewTopic]) -> list[KafkaException]:
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    errors = [answer.exception() for answer in admin.create_topics(wanted, request_timeout=10).values()]
    refusals = [error for error in errors if isinstance(error, KafkaException)]
    return [error for error in refusals if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS]


def _missing(admin: AdminClient, names: list[str], partitions: int) -> list[str]:
    return [name for name in names if not _is_given(admin, name, partitions)]


def _is_given(admin: AdminClient, name: str, partitions: int) -> bool:
    found = admin.list_topics(name, timeout=10).topics[name]
    led = [partition for partition in found.partitions.values() if partition.leader >= 0]
    return found.error is None and len(led) == partitions


class TopicReader:
    """Reads a topic from its beginning, outside of any group."""

    def __init__(self, bootstrap_servers: str, topic: str, partitions: int = 3) -> None:
        self.messages: list[Message] = []
        self._consumer = Consumer(
            {"bootstrap.servers": bootstrap_servers, "group.id": "reader", "enable.auto.commit": False}
        )
        self._consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])

    def read(self) -> list[Message]:
        """Everything up to now, in the order of arrival within each partition."""
        for message in self._consumer.consume(1000, timeout=0.05):
            assert message.error() is None, message.error()
            self.messages.append(message)
        return self.messages

    def values(self) -> list[str]:
        return [(message.value() or b"").decode() for message in self.read()]

    def close(self) -> None:
        self._consumer.close()


@contextlib.contextmanager
def reading(bootstrap_servers: str, source: str, partitions: int = 3) -> Iterator[TopicReader]:
    reader = TopicReader(bootstrap_servers, f"events.{source}", partitions)
    try:
        yield reader
    finally:
        reader.close()


@contextlib.asynccontextmanager
async def relaying_to_kafka(database: Database, bootstrap_servers: str, **settings: Any) -> AsyncIterator[Relay]:
    sink = KafkaSink(bootstrap_servers)
    try:
        async with relaying(database, sink, **settings) as relay:
            yield relay
    finally:
        await sink.close()


def first_arrivals(names: list[str]) -> list[str]:
    """Without the repetitions, which are legal: what an inbox lets through."""
    return list(dict.fromkeys(names))
