"""The claim that makes a redelivery a no-op."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import text

from service_platform.database import ClaimRefused, Transaction

_INSERT = text(
    """
    INSERT INTO inbox (consumer, source, event_id, handled_at)
    VALUES (:consumer, :source, :event_id, platform_now())
    ON CONFLICT DO NOTHING
    RETURNING true
    """
)


class AlreadyHandled(ClaimRefused):
    """This consumer has handled this event: the delivery is a duplicate and changes nothing."""


class InboxClaim:
    """One consumer's right to handle one event, once.

    The row is written by the transaction that holds the effect, as its first statement: both exist or neither does.
    Two deliveries at the same instant meet at the row: the second waits for the first one's end, is refused if that
    committed and runs if it rolled back. `source` is the publishing service, carried unchanged through every retry,
    so an event is known again whichever topic it comes from; each consumer of an event has its own claim.
    """

    def __init__(self, consumer: str, source: str, event_id: UUID) -> None:
        self.consumer = consumer
        self.source = source
        self.event_id = event_id
        self._was_acquired = False

    @property
    def was_acquired(self) -> bool:
        """Whether a transaction was opened with this claim, and won it."""
        return self._was_acquired

    async def acquire(self, tx: Transaction) -> None:
        """Claim the event in `tx`. Raises `AlreadyHandled`."""
        inserted = await tx.session.scalar(
            _INSERT, {"consumer": self.consumer, "source": self.source, "event_id": self.event_id}
        )
        if inserted is None:
            raise AlreadyHandled(f"{self.consumer} has handled event {self.event_id} of {self.source}")
        self._was_acquired = True
