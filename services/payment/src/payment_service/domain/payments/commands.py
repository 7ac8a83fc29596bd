"""What a door can ask of this capability."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from service_platform.database import Claim
from service_platform.jobs import RunKey


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPayment:
    """Open the payment of an order. `claim` is the delivery's inbox claim, `total_minor` counts minor units."""

    claim: Claim
    order_id: UUID
    total_minor: int
    currency: str
    payment_method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfOneRun:
    """`fence` is this run's hold on its job, `run_key` the idempotency key of what it does at the provider."""

    fence: Claim
    run_key: RunKey
    payment_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateIntent(_OfOneRun):
    """Give the payment an intent of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmIntent(_OfOneRun):
    """Confirm the stored intent; if that captures, settle the payment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseDeclinedIntent(_OfOneRun):
    """Make sure that the declined intent can never capture, then decline the payment."""
