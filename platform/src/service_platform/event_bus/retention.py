"""The inbox must remember an event for longer than any topic can bring it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]

_ANSWER_SECONDS = 10.0


class InboxForgetsTooSoon(RuntimeError):
    """A topic keeps events for longer than the inbox remembers having handled them."""


def topic_retentions(bootstrap_servers: str, topics: Sequence[str]) -> Mapping[str, timedelta | None]:
    """How long each topic keeps its records, None for ever. Topics that are not there yet are left out.

    Blocks for up to 10 s. Raises KafkaException when the broker does not answer.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 3})
    asked = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic) for topic in topics])
    retentions: dict[str, timedelta | None] = {}
    for resource, answer in asked.items():
        try:
            milliseconds = int(answer.result(timeout=_ANSWER_SECONDS)["retention.ms"].value)
        except KafkaException as error:
            if error.args[0].name() != "UNKNOWN_TOPIC_OR_PART":
                raise
        else:
            retentions[resource.name] = timedelta(milliseconds=milliseconds) if milliseconds >= 0 else None
    return retentions


def check_retentions(retentions: Mapping[str, timedelta | None], inbox: timedelta) -> None:
    """Raise `InboxForgetsTooSoon` if a redelivery could come after the inbox has forgotten the event."""
    for topic, kept in sorted(retentions.items()):
        if kept is None or kept >= inbox:
            how_long = "for ever" if kept is None else f"for {kept}"
            raise InboxForgetsTooSoon(
                f"{topic} keeps its events {how_long}, the inbox only for {inbox}: "
                "an offset that is reset would have them take effect again. Raise INBOX_RETENTION_DAYS above it, or "
                "lower the topic's retention.ms."
            )
