"""What a domain service published, without Kafka and without a database."""

from __future__ import annotations

from typing import TypeVar

from service_platform.database import Transaction
from service_platform.event_bus import Event, EventBus

from .database import FakeTransaction

EventT = TypeVar("EventT", bound=Event)


class RecordingEventBus(EventBus):
    """The real bus, which also remembers. It refuses what the real one refuses.

    Events count once their transaction has committed: those of a rolled-back one were never published.
    """

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._published: list[tuple[Event, FakeTransaction]] = []

    async def publish(self, event: Event, tx: Transaction) -> None:
        await super().publish(event, tx)
        if not isinstance(tx, FakeTransaction):
            raise TypeError("RecordingEventBus knows only FakeDatabase's transactions: with a real one, use EventBus")
        self._published.append((event, tx))

    @property
    def published(self) -> list[Event]:
        """The events of committed transactions, in the order of their publishing."""
        return [event for event, tx in self._published if tx.committed]

    def published_of(self, kind: type[EventT]) -> list[EventT]:
        """Those of one class."""
        return [event for event in self.published if isinstance(event, kind)]
