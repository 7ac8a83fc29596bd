"""The one list of Kafka topics, and the call that makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

_DAY_MS = 24 * 60 * 60 * 1000


class TopicsRefused(Exception):
    """The topics cannot be what is declared; `mend` says what a person can do about it."""

    def __init__(self, problem: str, mend: str) -> None:
        super().__init__(problem)
        self.mend = mend


@dataclass(frozen=True)
class Topic:
    """A topic as it shall be. Partitions can be added later, never taken away: choose enough."""

    name: str
    partitions: int = 6
    retention_ms: int = 7 * _DAY_MS
    max_message_bytes: int = 1024 * 1024

    @property
    def settings(self) -> dict[str, str]:
        return {
            "retention.ms": str(self.retention_ms),
            "max.message.bytes": str(self.max_message_bytes),
            "cleanup.policy": "delete",
        }


_SERVICES = ("order", "payment", "billing")

TOPICS = (
    *(Topic(f"events.{service}") for service in _SERVICES),
    *(Topic(f"events.{service}.retry") for service in _SERVICES),  # wake-ups, which the service's own consumers read
    *(Topic(f"events.{service}.dlq", retention_ms=30 * _DAY_MS) for service in _SERVICES),  # copies, for onlookers
)


def create_topics(
    bootstrap_servers: str, topics: tuple[Topic, ...] = TOPICS, *, security: Mapping[str, str] | None = None
) -> list[str]:
    """Make the topics that are not there, give those that are the declared settings. Returns the names of those made.

    `security` is what the client is told of TLS and credentials, in its own words.

    Raises:
        TopicsRefused: the broker refuses, or a topic is there with other partitions than declared.
    """
    admin = AdminClient({**(security or {}), "bootstrap.servers": bootstrap_servers, "log_level": 3})
    try:
        there = {name: len(found.partitions) for name, found in admin.list_topics(timeout=15).topics.items()}
        new = [topic for topic in topics if topic.name not in there]
        for topic in topics:
            if topic.name in there and there[topic.name] != topic.partitions:
                raise TopicsRefused(
                    f"topic {topic.name} has {there[topic.name]} partitions, declared are {topic.partitions}",
                    "More partitions move keys and break their order: drain the topic first, or `make clean`.",
                )
        _create(admin, new)
        _configure(admin, [topic for topic in topics if topic.name in there])
    except KafkaException as error:
        raise TopicsRefused(f"Kafka refused the topics: {error}", "Read its log: make logs S=kafka") from error
    return [topic.name for topic in new]


def _create(admin: AdminClient, topics: list[Topic]) -> None:
    if not topics:
        return
    wanted = [
        NewTopic(topic.name, num_partitions=topic.partitions, replication_factor=1, config=topic.settings)
        for topic in topics
    ]
    for answer in admin.create_topics(wanted, operation_timeout=15).values():
        answer.result()


def _configure(admin: AdminClient, topics: list[Topic]) -> None:
    if not topics:
        return
    wanted = [
        ConfigResource(
            ResourceType.TOPIC,
            topic.name,
            incremental_configs=[
                ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
                for name, value in topic.settings.items()
            ],
        )
        for topic in topics
    ]
    for answer in admin.incremental_alter_configs(wanted).values():
        answer.result()
