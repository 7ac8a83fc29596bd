"""The topics as an onlooker sees them, with a consumer group of its own and no influence on the suite's."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, cast
from uuid import uuid4

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from .waiting import eventually

_REPLY_SECONDS = 10.0


@dataclass(frozen=True)
class Record:
    """One record of a topic."""

    topic: str
    partition: int
    offset: int
    key: str
    headers: dict[str, bytes]
    value: bytes

    def header(self, name: str) -> str:
        return self.headers[name].decode()


class Bus:
    """Reads whole topics, and repeats records as a broker or a relay may."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._servers = bootstrap_servers

    async def records(self, topic: str, key: str) -> list[Record]:
        """Every record of `topic` with this key, in the order of its partition."""
        return await asyncio.to_thread(self._records, topic, key)

    async def everything(self, topic: str) -> list[Record]:
        """Every record of `topic`, in the order of its partition."""
        return await asyncio.to_thread(self._records, topic, None)

    async def until_readable(self, topic: str) -> None:
        """Wait until all of `topic` can be read: a broker that has just started leads no partition yet."""

        async def readable() -> bool:
            try:
                await self.everything(topic)
            except KafkaException:
                return False
            return True

        await eventually(readable, what=f"the broker gives all of {topic}")

    @contextlib.asynccontextmanager
    async def topic(self, *, partitions: int = 3, max_message_bytes: int = 1024 * 1024) -> AsyncIterator[str]:
        """A topic of the scenario's own, which none of the suite's consumers reads."""
        name = f"scenario.{uuid4().hex[:12]}"
        wanted = NewTopic(name, partitions, 1, config={"max.message.bytes": str(max_message_bytes)})

        async def made() -> bool:
            try:
                await self._administer(lambda admin: admin.create_topics([wanted], operation_timeout=15))
            except KafkaException as refusal:
                return bool(refusal.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS)
            return True

        # A broker that stood still takes no topics until it has registered anew.
        await eventually(made, what=f"the broker makes the topic {name}")
        try:
            yield name
        finally:
            await self._administer(lambda admin: admin.delete_topics([name], operation_timeout=15))

    async def limit(self, topic: str, max_message_bytes: int) -> None:
        """Have the topic take records up to this size, and no larger ones."""
        entry = ConfigEntry("max.message.bytes", str(max_message_bytes), incremental_operation=AlterConfigOpType.SET)
        wanted = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        await self._administer(lambda admin: admin.incremental_alter_configs([wanted]))

    async def _administer(self, call: Callable[[AdminClient], dict[Any, Future[Any]]]) -> None:
        admin = AdminClient({"bootstrap.servers": self._servers})
        for answer in call(admin).values():
            await asyncio.wrap_future(answer)

    async def repeat(self, record: Record) -> Record:
        """Write a record once more, unchanged; the copy as it stands in the topic."""
        return await asyncio.to_thread(self._repeat, record)

    async def committed(self, group: str, topic: str, partition: int) -> int:
        """The offset up to which the consumer group has finished the partition."""
        return await asyncio.to_thread(self._committed, group, topic, partition)

    def _records(self, topic: str, key: str | None) -> list[Record]:
        consumer = Consumer(
            {"bootstrap.servers": self._servers, "group.id": f"onlooker-{uuid4()}", "enable.auto.commit": False}
        )
        try:
            metadata = consumer.list_topics(topic, timeout=_REPLY_SECONDS).topics[topic]
            if metadata.error is not None:
                raise KafkaException(metadata.error)
            found: list[Record] = []
            for partition in metadata.partitions:
                low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=_REPLY_SECONDS)
                consumer.assign([TopicPartition(topic, partition, low)])
                found += [record for record in self._until(consumer, low, high) if key in (record.key, None)]
            return found
        finally:
            consumer.close()

    def _until(self, consumer: Consumer, low: int, high: int) -> list[Record]:
        records: list[Record] = []
        deadline = time.monotonic() + _REPLY_SECONDS
        position = low
        while position < high:
            assert time.monotonic() < deadline, f"the broker gave no record between {position} and {high}"
            for message in consumer.consume(500, timeout=0.5):
                assert message.error() is None, message.error()
                record = _record(message)
                position = record.offset + 1
                records.append(record)
        return records

    def _repeat(self, record: Record) -> Record:
        offsets: list[int] = []

        def delivered(error: object, message: Message) -> None:
            assert error is None, error
            offsets.append(int(message.offset() or 0))

        producer = Producer({"bootstrap.servers": self._servers, "acks": "all"})
        producer.produce(
            record.topic,
            record.value,
            record.key.encode(),
            partition=record.partition,
            headers=list(record.headers.items()),
            on_delivery=delivered,
        )
        assert producer.flush(_REPLY_SECONDS) == 0, "the broker did not take the record"
        return replace(record, offset=offsets[0])

    def _committed(self, group: str, topic: str, partition: int) -> int:
        admin = AdminClient({"bootstrap.servers": self._servers})
        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, partition)])
        (answer,) = admin.list_consumer_group_offsets([asked]).values()
        (found,) = answer.result(timeout=_REPLY_SECONDS).topic_partitions
        return int(found.offset)


def _record(message: Message) -> Record:
    key, value = message.key(), message.value()
    assert isinstance(key, bytes)
    assert isinstance(value, bytes)
    headers = {str(header[0]): bytes(header[1]) for header in cast("list[tuple[str, bytes]]", message.headers() or [])}
    return Record(
        topic=str(message.topic()),
        partition=int(message.partition() or 0),
        offset=int(message.offset() or 0),
        key=key.decode(),
        headers=headers,
        value=value,
    )
