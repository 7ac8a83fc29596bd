"""The copy of a dead letter for the dead-letter topic."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from service_platform.outbox import MessageRefused, OutboxMessage

from .incoming import IncomingEvent

_ERROR_CHARACTERS = 500
_KEY_CHARACTERS = 500


def dead_letter_topic_of(service: str) -> str:
    """The topic that copies of `service`'s dead letters go to. Nothing depends on it; the table is the truth."""
    return f"events.{service}.dlq"


def dead_letter_copy(event: IncomingEvent, letter: UUID, failures: int, reason: str, service: str) -> OutboxMessage:
    """`event` as it came in, with what the dead letter says of it.

    A record of somebody else's may be larger than what the outbox carries; its copy goes without headers and payload
    of its own then, and with the beginning of its key, since recording a failure must never be refused.
    """
    about = {
        "dead-letter-id": str(letter),
        "dead-letter-consumer": event.consumer,
        "dead-letter-attempts": str(failures),
        "dead-letter-error": reason[:_ERROR_CHARACTERS],
        "dead-letter-origin": event.origin,
    }
    whole = _message(event, letter, {**event.headers, **about}, event.payload, service)
    try:
        whole.check()
    except MessageRefused:
        about["dead-letter-omitted-bytes"] = str(len(event.payload))
        return _message(replace(event, key=event.key[:_KEY_CHARACTERS]), letter, about, b"", service)
    return whole


def _message(
    event: IncomingEvent, letter: UUID, headers: dict[str, str], payload: bytes, service: str
) -> OutboxMessage:
    return OutboxMessage(
        channel="kafka",
        destination=dead_letter_topic_of(service),
        consumer=event.consumer,
        key=event.key,
        message_id=letter,
        payload=payload,
        headers=headers,
    )
