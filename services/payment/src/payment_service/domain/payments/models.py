"""A payment and what the provider says about its intent: plain values, no storage, no calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

MAX_AMOUNT_MINOR: Final = 100_000_000_000
"""The most that a payment can be of, in minor units."""


class PaymentStatus(StrEnum):
    """created → processing → confirming → settled | declined | cancelled, and needs_review for what no machine decides.

    Money can move only while a payment is `confirming`.
    """

    CREATED = "created"
    PROCESSING = "processing"
    CONFIRMING = "confirming"
    SETTLED = "settled"
    DECLINED = "declined"
    CANCELLED = "cancelled"
    NEEDS_REVIEW = "needs_review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """One order's payment. `amount_minor` counts minor units of `currency` (ISO 4217).

    `intent_id` is the one provider intent that may ever be confirmed for it. `reason` says why it was declined or
    needs review. `concluded_at` is when it was settled, declined or cancelled; one that needs review has it only if it
    had been concluded before, as `concluded_as`: others were told that. `contested_intent` is an intent that is not its
    own and captured money for it all the same. `resolved_at` is when a person decided. `refund_reserved_minor` may
    still go back, `refunded_minor` did: the sums of its refunds.
    """

    id: UUID
    order_id: UUID
    status: PaymentStatus
    amount_minor: int
    currency: str
    payment_method: str
    intent_id: str | None
    reason: str | None
    cancel_requested_at: datetime | None
    created_at: datetime
    concluded_at: datetime | None
    refund_reserved_minor: int
    refunded_minor: int
    concluded_as: PaymentStatus | None = None
    contested_intent: str | None = None
    under_review_since: datetime | None = None
    resolved_at: datetime | None = None

    @property
    def refundable_minor(self) -> int:
        """What can still be given back: captured, and not in any refund yet."""
        captured = self.amount_minor if self.status is PaymentStatus.SETTLED else 0
        return captured - self.refund_reserved_minor - self.refunded_minor

    @property
    def wants_intent(self) -> bool:
        """Whether a capture should create an intent: it is on its way, has none, and nobody cancelled it."""
        return self.status is PaymentStatus.PROCESSING and self.intent_id is None and self.cancel_requested_at is None

    @property
    def confirming_intent(self) -> str | None:
        """The intent that may have captured money and of which no final answer is recorded; None if there is none."""
        return self.intent_id if self.status is PaymentStatus.CONFIRMING else None

    @property
    def useless_intent(self) -> str | None:
        """An intent that was stored and will never be confirmed, since a cancel came first; None if there is none."""
        return self.intent_id if self.status is PaymentStatus.CANCELLED else None

    @property
    def undecided(self) -> bool:
        """Whether an answer for the stored intent may still conclude it."""
        return self.intent_id is not None and (
            self.status is PaymentStatus.CONFIRMING
            or (self.status is PaymentStatus.NEEDS_REVIEW and self.concluded_at is None)
        )

    @property
    def told_as_settled(self) -> bool:
        """Whether others know it as settled, also while it needs review again."""
        return PaymentStatus.SETTLED in {self.status, self.concluded_as}

    def can_never_store(self, intent_id: str) -> bool:
        """Whether that intent is an orphan: a fenced-out run made it, and no run can make it this payment's."""
        if self.intent_id is not None:
            return self.intent_id != intent_id
        return self.concluded_at is not None


class IntentStatus(StrEnum):
    """Where a provider intent stands, in the words that a capture decides by."""

    UNCONFIRMED = "unconfirmed"
    """Nobody confirmed it yet."""
    DECLINED = "declined"
    """A confirmation was refused. Another one could still succeed: not final until it is cancelled."""
    IN_PROGRESS = "in_progress"
    """The provider has not decided."""
    SUCCEEDED = "succeeded"
    """Final: the money moved, once."""
    CANCELLED = "cancelled"
    """Final: no money moved and none can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A provider intent as it stood when it was read. `captured_minor` is what it moved, in minor units.

    `payment_id` is the payment that it was created for, as its metadata says; None if it says nothing that we wrote.
    """

    id: str
    status: IntentStatus
    captured_minor: int
    currency: str
    decline_reason: str | None
    payment_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The money is ours, to the cent."""


@dataclass(frozen=True, slots=True)
class Declined:
    """No money moved and none can: why, as a code. Where a cancel is recorded, the payment is cancelled by it."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotDecidable:
    """A person has to look: why, as a code."""

    reason: str


Outcome = Settled | Declined | NotDecidable


def outcome_of(payment: Payment, intent: Intent) -> Outcome | None:
    """What the stored intent means for its payment; None while the provider has given no final answer for it."""
    if intent.status is IntentStatus.SUCCEEDED:
        if (intent.captured_minor, intent.currency) != (payment.amount_minor, payment.currency):
            return NotDecidable("captured_amount_differs")
        return Settled()
    if intent.status is IntentStatus.CANCELLED:
        return Declined(intent.decline_reason or "intent_cancelled_at_provider")
    return None
