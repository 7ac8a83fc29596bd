"""What a service writes to consume an event."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Generic, Literal, TypeVar
from uuid import UUID

from service_platform.inbox import InboxClaim

from .event import Event

EventT = TypeVar("EventT", bound=Event)
EventT_co = TypeVar("EventT_co", bound=Event, covariant=True)


@dataclass(frozen=True, slots=True)
class Delivery(Generic[EventT_co]):
    """One event on its way into one consumer; the same event may come again."""

    event: EventT_co
    claim: InboxClaim
    event_id: UUID
    key: str
    occurred_at: datetime


class Consumer(ABC, Generic[EventT]):
    """Reacts to one event with one call into the domain.

    `name` (`payment.open-payment`) is part of what the inbox remembers: keep it for the consumer's whole life.
    `on_dead` says what follows when an event has failed `event.attempts` times and is buried: the later events of its
    key go on (`release`), or wait until an operator has requeued or discarded it (`hold`).
    """

    name: ClassVar[str]
    event: ClassVar[type[Event]]
    on_dead: ClassVar[Literal["release", "hold"]] = "release"

    @abstractmethod
    async def handle(self, delivery: Delivery[EventT]) -> None:
        """Translate the event into one command and call the domain with it.

        The domain opens its transaction with `delivery.claim`, so that a second delivery, or one whose turn has not
        come, raises a `ClaimRefused`, which must leave through here. Returning without having acquired the claim is
        an error, and the event is buried at once. Whatever else is raised means that nothing took effect: the event
        is tried again later, and the events of its key wait behind it.
        """
