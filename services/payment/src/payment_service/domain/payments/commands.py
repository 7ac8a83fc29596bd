"""What a door can ask of this capability."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from service_platform.database import Claim
from service_platform.idempotency import IdempotencyClaim
from service_platform.jobs import RunKey

from .provider import Hint
from .review_rules import PaymentLedger, RefundLedger


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPayment:
    """Open the payment of an order. `claim` is the delivery's inbox claim, `total_minor` counts minor units."""

    claim: Claim
    order_id: UUID
    total_minor: int
    currency: str
    payment_method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelPayment:
    """The order is cancelled: keep its money from moving, or give it back. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID


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
class CloseIntent(_OfOneRun):
    """Make sure that an intent which was declined, or whose payment was cancelled, can never capture; conclude."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRefund:
    """Give back `amount_minor` minor units, or all that is left where it is None."""

    idempotency: IdempotencyClaim
    payment_id: UUID
    amount_minor: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRefund:
    """Have the provider make a reserved refund. `fence` and `run_key` are those of one run, as in a capture."""

    fence: Claim
    run_key: RunKey
    refund_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeHint:
    """The provider says that something happened: look for yourself."""

    hint: Hint


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckIntent:
    """Compare the payment that stored this intent with what the provider says of it."""

    fence: Claim
    intent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRefunds:
    """Compare the refunds of the payment that stored this intent with those that the provider lists."""

    fence: Claim
    intent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOrphan:
    """Cancel an intent that no payment can ever use."""

    fence: Claim
    run_key: RunKey
    intent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvePayment:
    """A person's decision about a payment that needs review, by what the provider's ledger was `seen` to show.

    Settled; or else declined, or cancelled where the order is.
    """

    seen: PaymentLedger
    settled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRefund:
    """A person's decision about a refund that needs review, by what the provider's ledger was `seen` to show.

    Done; or else failed.
    """

    seen: RefundLedger
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """Compare what the provider lists of the last `lookback_hours` with the tables, and have checked what differs.

    `run` names this reconcile in the keys of the checks, so that each has its own.
    """

    fence: Claim
    run: str
    lookback_hours: int
