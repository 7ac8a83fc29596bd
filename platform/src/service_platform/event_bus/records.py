"""Reading a Kafka record: its texts, its place in the log, and what it says it is."""

from __future__ import annotations

from typing import cast

from confluent_kafka import Message


def record_key(message: Message) -> str:
    """What orders the record; empty for one without a key."""
    return text_of(message.key())


def raw_headers(message: Message) -> dict[str, bytes | None]:
    """The headers as they came; of a name that stands there twice, the last."""
    return dict(cast("list[tuple[str, bytes | None]]", message.headers() or []))


def text_headers(message: Message) -> dict[str, str]:
    """The headers as texts that a database can hold."""
    return {text_of(name.encode()): text_of(value) for name, value in raw_headers(message).items()}


def text_of(raw: bytes | None) -> str:
    """UTF-8, with an escape (`\\xff`, `\\x00`) for each byte that is none or that no text column takes."""
    return (raw or b"").decode("utf-8", "backslashreplace").replace("\0", "\\x00")


def origin(message: Message) -> str:
    """Where the record stands: `topic/partition@offset`, and its timestamp, since a topic can be made anew."""
    return f"{message.topic()}/{message.partition()}@{message.offset()} {message.timestamp()[1]}"
