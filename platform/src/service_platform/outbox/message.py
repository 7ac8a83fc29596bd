"""What the outbox carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

from .errors import MessageTooLarge, NulCharacter, UnencodableText

Channel = Literal["kafka", "celery"]

# Topics take 1 MiB a record batch. The 64 KiB below it are for the key, the headers and the framing, and for the
# headers that a retry or a dead letter adds: recording a failure is never refused for its size.
MAX_PAYLOAD_BYTES = 1024 * 1024 - 64 * 1024
MAX_KEY_AND_HEADER_BYTES = 32 * 1024
# An index holds it beside the names of a topic and of a consumer, and takes 2,704 bytes in all.
MAX_KEY_BYTES = 1024


@dataclass(frozen=True, slots=True)
class OutboxMessage:
    """One message to deliver after COMMIT.

    Messages with the same `destination`, `consumer` and `key` are delivered in the order in which their transactions
    commit. `not_before` (aware, compared with the database's clock) defers one; nothing waits for a deferred message.
    """

    channel: Channel
    destination: str  # a topic or a queue
    key: str
    message_id: UUID
    payload: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    consumer: str = ""  # set where one destination carries the messages of several consumers
    not_before: datetime | None = None

    def check(self) -> None:
        """Raise the `MessageRefused` that says why this message cannot be carried."""
        texts = [self.destination, self.consumer, self.key, *self.headers.keys(), *self.headers.values()]
        for text in texts:
            if "\x00" in text:
                raise NulCharacter(f"{text!r:.80} (message {self.message_id} to {self.destination!r}) holds NUL")
        if len(self.payload) > MAX_PAYLOAD_BYTES:
            raise MessageTooLarge(
                f"the payload of message {self.message_id} to {self.destination!r} has {len(self.payload)} bytes, the "
                f"limit is {MAX_PAYLOAD_BYTES}: publish a reference instead of the content"
            )
        try:
            around = sum(len(text.encode()) for text in texts)
        except UnicodeEncodeError as error:
            raise UnencodableText(f"message {self.message_id} to {self.destination!r}: {error}") from error
        if len(self.key.encode()) > MAX_KEY_BYTES:
            raise MessageTooLarge(
                f"the key of message {self.message_id} to {self.destination!r} has more than {MAX_KEY_BYTES} bytes"
            )
        if around > MAX_KEY_AND_HEADER_BYTES:
            raise MessageTooLarge(
                f"key and headers of message {self.message_id} to {self.destination!r} have more than "
                f"{MAX_KEY_AND_HEADER_BYTES} bytes"
            )


class OutboxRow(NamedTuple):
    """A committed message on its way out. Rows of one `ordering_key` keep the order of their `position`."""

    position: int
    ordering_key: int
    destination: str
    key: str
    headers: str  # a JSON object of texts, as it is stored: not every sink needs it parsed
    payload: bytes
