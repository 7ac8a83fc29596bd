"""An event as one consumer got it: what a ledger row and a dead letter keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class IncomingEvent:
    """One event on its way into one consumer.

    `source` is the publishing service, carried unchanged through retry, dead letter and requeue, so that an event is
    known again wherever it comes from. `key` orders it. `origin` is where in the log it stood, for people.
    `attempts` counts the failures that the ledger knew of when it gave the event out; None for a delivery from the
    event's own topic.
    """

    consumer: str
    source: str
    key: str
    event_id: UUID
    name: str
    headers: Mapping[str, str]
    payload: bytes
    origin: str
    attempts: int | None = None
