"""Publishing: the event becomes an outbox row of the transaction that made it true."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from uuid import uuid4

import orjson
from pydantic_core import PydanticSerializationError

from service_platform.database import Transaction
from service_platform.outbox import NulCharacter, OutboxMessage, append
from service_platform.telemetry import carrier, correlation_id, new_correlation_id

from . import headers
from .errors import NotThisServicesEvent, UnencodableEvent
from .event import Event
from .topics import topic_of

# An escaped NUL, not the six characters of its escape: an even number of backslashes stands before it.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class EventBus:
    """Publishes the events of the service `source`, and of no other."""

    def __init__(self, source: str) -> None:
        self.source = source

    async def publish(self, event: Event, tx: Transaction) -> None:
        """Have `event` delivered to its consumers if and only if `tx` commits.

        Raises `outbox.MessageRefused` (tree in `outbox.errors`) for what could not be carried; `tx` must not commit
        then. Waits for nothing.
        """
        if not isinstance(event, Event):
            raise NotThisServicesEvent(f"{type(event).__name__} is no Event")
        if event.source != self.source:
            raise NotThisServicesEvent(
                f"{event.event_name} is published by {event.source!r}, this is {self.source!r}: publish an event of "
                "this service's own"
            )
        event_id = uuid4()
        append(
            OutboxMessage(
                channel="kafka",
                destination=topic_of(self.source),
                key=event.key,
                message_id=event_id,
                payload=_encode(event),
                headers={
                    headers.EVENT_ID: str(event_id),
                    headers.EVENT_NAME: event.event_name,
                    headers.EVENT_VERSION: str(event.version),
                    headers.EVENT_SOURCE: self.source,
                    headers.OCCURRED_AT: datetime.now(UTC).isoformat(),
                    headers.CORRELATION_ID: correlation_id() or new_correlation_id(),
                    **carrier(),
                },
            ),
            tx,
        )


def _encode(event: Event) -> bytes:
    """The event as JSON that every reader takes: a strict parser reads it back, and no text holds NUL."""
    try:
        payload = event.model_dump_json().encode()
        orjson.loads(payload)
    except (PydanticSerializationError, UnicodeEncodeError, orjson.JSONDecodeError) as error:
        raise UnencodableEvent(f"{event.event_name} cannot be written as JSON: {error}") from error
    if _NUL.search(payload):
        raise NulCharacter(f"a text of {event.event_name} holds NUL, which neither jsonb nor text columns can store")
    return payload
