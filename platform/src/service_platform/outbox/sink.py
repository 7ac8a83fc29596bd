"""The far end of a relay: a broker, behind two calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .message import OutboxRow


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of a batch, by position. What is named in neither stays pending and is sent again at once."""

    acknowledged: frozenset[int]
    refused: Mapping[int, str] = field(default_factory=dict)  # the broker's verdict on that record, in words


class SinkUnavailable(Exception):
    """The broker, or some of its destinations, cannot be reached now. Says nothing about any record.

    `acknowledged` are the positions that got through before. `destinations` are those that are away; empty means all.
    """

    def __init__(self, reason: str, acknowledged: Collection[int] = (), destinations: Collection[str] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.acknowledged = frozenset(acknowledged)
        self.destinations = frozenset(destinations)


class SinkOverran(RuntimeError):
    """A sink did not come back within the deadline of a delivery. It is broken, so its relay ends with this error."""


class Sink(Protocol):
    """Where a relay delivers to. The relay calls one method at a time."""

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        """Send `rows` in this order and wait for the broker's answers, at most `relay.DELIVERY_DEADLINE` seconds.

        A row is acknowledged only when the broker said so; within one ordering key nothing is sent past a row known
        to have failed. After it returns or raises, nothing of these rows may reach the broker ahead of a later call's.
        Raises `SinkUnavailable` for an outage.
        """
        ...

    async def probe(self) -> None:
        """Return when the broker answers, raise `SinkUnavailable` when it does not within a few seconds.

        Called before the first rows are read and after an outage, so that no transaction is open while the broker is
        away, or while the sink loads or opens what it needs.
        """
        ...
