"""The headers of a Kafka record: who says what, when, on whose behalf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from .errors import Unparsable

EVENT_ID = "event-id"
EVENT_NAME = "event-name"
EVENT_VERSION = "event-version"
EVENT_SOURCE = "event-source"
OCCURRED_AT = "occurred-at"  # ISO 8601 with its offset
CORRELATION_ID = "correlation-id"


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the headers of a record say, checked."""

    event_id: UUID
    name: str
    version: int
    source: str
    occurred_at: datetime

    @classmethod
    def read(cls, headers: Mapping[str, str]) -> Envelope:
        """Raises `Unparsable`, naming what is missing or wrong."""
        try:
            envelope = cls(
                event_id=UUID(headers[EVENT_ID]),
                name=headers[EVENT_NAME],
                version=int(headers[EVENT_VERSION]),
                source=headers[EVENT_SOURCE],
                occurred_at=datetime.fromisoformat(headers[OCCURRED_AT]),
            )
        except (KeyError, ValueError) as error:
            raise Unparsable(f"the record's headers cannot be read: {error!r}") from error
        if envelope.occurred_at.tzinfo is None:
            raise Unparsable(f"the header {OCCURRED_AT} has no offset")
        return envelope
