"""The inbox must remember an event for longer than any topic can bring it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]

_ANSWER_SECONDS = 10.0
_AS_GOOD_AS_EVER_MS = 100 * 365 * 86_400_000


class InboxForgetsTooSoon(RuntimeError):
    """A topic keeps events for longer than the inbox remembers having handled them."""


def topic_retentions(brokers: Mapping[str, str], topics: Sequence[str]) -> Mapping[str, timedelta | None]:
    """For how long each topic may keep a record, None for ever. Topics that are not there yet are left out.

    Blocks for up to 10 s. Raises KafkaException when the broker does not answer.
    """
    admin = AdminClient({**brokers, "log_level": 3})
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    asked = admin.describe_configs(resources, request_timeout=_ANSWER_SECONDS)
    retentions: dict[str, timedelta | None] = {}
    for resource, answer in asked.items():
        try:
            settings = answer.result()
        except KafkaException as error:
            if error.args[0].name() != "UNKNOWN_TOPIC_OR_PART":
                raise
        else:
            retentions[resource.name] = _longest({name: setting.value for name, setting in settings.items()})
    return retentions


def _longest(settings: Mapping[str, str]) -> timedelta | None:
    """The broker deletes whole segments, by their newest record; a segment takes records for up to `segment.ms`."""
    kept = int(settings["retention.ms"])
    if kept < 0 or "delete" not in settings["cleanup.policy"]:
        return None
    longest = kept + int(settings["segment.ms"])
    return timedelta(milliseconds=longest) if longest < _AS_GOOD_AS_EVER_MS else None


def check_retentions(retentions: Mapping[str, timedelta | None], inbox: timedelta) -> None:
    """Raise `InboxForgetsTooSoon` if a redelivery could come after the inbox has forgotten the event."""
    for topic, kept in sorted(retentions.items()):
        if kept is None or kept >= inbox:
            how_long = "for ever" if kept is None else f"for {kept}"
            raise InboxForgetsTooSoon(
                f"{topic} keeps its events {how_long}, the inbox only for {inbox}: "
                "an offset that is reset would have them take effect again. Raise INBOX_RETENTION_DAYS above it, or "
                "lower the topic's retention.ms and segment.ms, which add up."
            )
