"""Reading a Kafka record: its texts, its place in the log, and what it says it is."""

from __future__ import annotations

from operator import methodcaller
from typing import cast

from confluent_kafka import Message

_headers = methodcaller("headers")


def record_key(message: Message) -> str:
    """What orders the record; empty for one without a key."""
    return text_of(message.key())


def size_of(message: Message) -> int:
    """Its bytes, for a bound on memory: a record may be all headers."""
    headers = sum(len(value or b"") for value in raw_headers(message).values())
    return len(message.value() or b"") + len(message.key() or b"") + headers


def raw_headers(message: Message) -> dict[str, bytes | None]:
    """The headers as they came; of a name that stands there twice, the last.

    None at all for a record with a header whose name is no UTF-8: the client fails on it once, and the second time
    hands out a list with a hole in it, which must not be touched. It fails by returning with an error set, which a
    call that the interpreter has specialised does not notice; one through `methodcaller` does.
    """
    try:
        headers = _headers(message)
    except SystemError:
        message.set_headers([])
        return {}
    return dict(cast("list[tuple[str, bytes | None]]", headers or []))


def text_headers(message: Message) -> dict[str, str]:
    """The headers as texts that a database can hold."""
    return {text_of(name.encode()): text_of(value) for name, value in raw_headers(message).items()}


def text_of(raw: bytes | None) -> str:
    """UTF-8, with an escape (`\\xff`, `\\x00`) for each byte that is none or that no text column takes."""
    if not raw:
        return ""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "backslashreplace")
    return text.replace("\0", "\\x00") if "\0" in text else text


def origin(message: Message) -> str:
    """Where the record stands: `topic/partition@offset`, and its timestamp, since a topic can be made anew."""
    return f"{message.topic()}/{message.partition()}@{message.offset()} {message.timestamp()[1]}"
