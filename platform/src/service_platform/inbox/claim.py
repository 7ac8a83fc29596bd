"""The claim that makes a redelivery a no-op and keeps a key in order."""

from __future__ import annotations

from uuid import UUID

from service_platform.database import Transaction
from service_platform.outbox import append

from .errors import AlreadyBuried, AlreadyHandled, AlreadyRetrying, DeliveryRefused, KeyBlocked, StaleWakeUp
from .statements import call
from .wake_up import WakeUp

_REFUSALS: dict[str, type[DeliveryRefused]] = {
    "handled": AlreadyHandled,
    "retrying": AlreadyRetrying,
    "buried": AlreadyBuried,
    "blocked": KeyBlocked,
    "stale": StaleWakeUp,
}

_CLAIM = "SELECT inbox_claim($1, $2, $3, $4)"
_CLAIM_RETRY = "SELECT verdict, wake_event, wake_attempts, wake_at FROM inbox_claim_retry($1, $2, $3, $4, $5::int2)"


class InboxClaim:
    """One consumer's right to handle one event, once, in the order of its key.

    The inbox row is written by the transaction that holds the effect, as its first statement: both exist or neither
    does. Deliveries of one key to one consumer come one after the other, each waiting for the other's end. `source`
    is the publishing service, carried unchanged through every retry, so an event is known again whichever topic it
    comes from; each consumer of an event has its own claim.
    """

    def __init__(self, consumer: str, source: str, key: str, event_id: UUID) -> None:
        self.consumer = consumer
        self.source = source
        self.key = key
        self.event_id = event_id
        self._won_by: Transaction | None = None

    @property
    def took_effect(self) -> bool:
        """Whether a transaction won this claim and has committed."""
        return self._won_by is not None and self._won_by.committed

    async def acquire(self, tx: Transaction) -> None:
        """Claim the event in `tx`. Raises the `DeliveryRefused` that says why it is not to run now."""
        verdict = await self._decide(tx)
        if verdict != "claimed":
            raise _REFUSALS[verdict](f"{self.consumer}: event {self.event_id} of {self.source} is {verdict}")
        self._won_by = tx

    async def _decide(self, tx: Transaction) -> str:
        [(verdict,)] = await call(tx, _CLAIM, self.consumer, self.source, self.key, self.event_id)
        return str(verdict)


class RetryClaim(InboxClaim):
    """The same right, for an event that the retry ledger holds: it leaves the ledger in its effect's transaction.

    The same transaction wakes the event behind it, so a key neither stands still nor has two heads.
    """

    def __init__(self, wake_up: WakeUp, service: str) -> None:
        super().__init__(wake_up.consumer, wake_up.source, wake_up.key, wake_up.event_id)
        self._attempts = wake_up.attempts
        self._service = service

    async def _decide(self, tx: Transaction) -> str:
        [(verdict, event_id, attempts, not_before)] = await call(
            tx, _CLAIM_RETRY, self.consumer, self.source, self.key, self.event_id, self._attempts
        )
        if event_id is not None:
            next_head = WakeUp(self.consumer, self.source, self.key, event_id, attempts, not_before)
            append(next_head.message(self._service), tx)
        return str(verdict)
