"""Wake-ups: what the retry topic carries. The ledger is the truth; a wake-up only says where to look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from service_platform.outbox import OutboxMessage

_CONSUMER, _SOURCE, _EVENT_ID, _ATTEMPTS = "retry-consumer", "event-source", "event-id", "retry-attempts"
_MOST_ATTEMPTS = 32_767  # the ledger's column


def retry_topic_of(service: str) -> str:
    """The topic that wakes the retries of `service`'s consumers, which nobody else reads."""
    return f"events.{service}.retry"


@dataclass(frozen=True, slots=True)
class WakeUp:
    """The head of a key, and its attempt, that may run from `not_before` on (None: now)."""

    consumer: str
    source: str
    key: str
    event_id: UUID
    attempts: int
    not_before: datetime | None = None

    def message(self, service: str) -> OutboxMessage:
        """The wake-up on its way out."""
        return OutboxMessage(
            channel="kafka",
            destination=retry_topic_of(service),
            consumer=self.consumer,
            key=self.key,
            message_id=uuid4(),
            payload=b"",
            headers={
                _CONSUMER: self.consumer,
                _SOURCE: self.source,
                _EVENT_ID: str(self.event_id),
                _ATTEMPTS: str(self.attempts),
            },
            not_before=self.not_before,
        )

    @classmethod
    def read(cls, key: str, headers: Mapping[str, str]) -> WakeUp:
        """Raises ValueError for headers that are none of a wake-up."""
        try:
            attempts = int(headers[_ATTEMPTS])
            if not 0 <= attempts <= _MOST_ATTEMPTS:
                raise ValueError(f"no ledger counts {attempts} attempts")
            return cls(headers[_CONSUMER], headers[_SOURCE], key, UUID(headers[_EVENT_ID]), attempts)
        except KeyError as error:
            raise ValueError(f"the header {error} is missing") from error
