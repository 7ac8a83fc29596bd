"""A refund and what the provider says about it: plain values, no storage, no calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class RefundStatus(StrEnum):
    """reserved → done | failed, and needs_review for what no machine can decide.

    All but `failed` count against what may still be given back.
    """

    RESERVED = "reserved"
    DONE = "done"
    FAILED = "failed"
    NEEDS_REVIEW = "needs_review"


class RefundReason(StrEnum):
    """Who wanted it."""

    REQUESTED = "requested"
    ORDER_CANCELLED = "order_cancelled"
    MADE_AT_PROVIDER = "made_at_provider"
    """Nobody here: reconciling found it at the provider. It needs review for ever, or until a person decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """Money that goes back, in minor units of its payment's currency.

    `run_key` is the idempotency key under which it is tried, and the only one: see `RefundTable.take_key`. `detail`
    says as a code why it failed or needs review.
    """

    id: UUID
    payment_id: UUID
    amount_minor: int
    reason: RefundReason
    status: RefundStatus
    run_key: str | None
    run_key_at: datetime | None
    provider_reference: str | None
    detail: str | None
    created_at: datetime
    concluded_at: datetime | None


class ProviderRefundStatus(StrEnum):
    """Where a refund stands at the provider."""

    IN_PROGRESS = "in_progress"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """Final: no money moved, or it came back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRefund:
    """A refund as the provider shows it. `refund_id` is ours, from its metadata; None if it says nothing we wrote."""

    reference: str
    status: ProviderRefundStatus
    amount_minor: int
    currency: str
    intent_id: str | None
    refund_id: UUID | None
