"""What a door can ask of this capability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from service_platform.database import Claim
from service_platform.idempotency import IdempotencyClaim
from service_platform.messages import Language

from .models import OrderLine


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOrder:
    """Place an order for `customer_id`. `idempotency` makes a repeated request answer the same order."""

    idempotency: IdempotencyClaim
    customer_id: str
    customer_email: str
    locale: Language
    currency: str
    payment_method: str
    lines: Sequence[OrderLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOrder:
    """`customer_id` wants their order cancelled. To ask again changes nothing, so it needs no idempotency key."""

    customer_id: str
    order_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireUnpaidOrders:
    """Cancel what was placed longer than `unpaid_for` ago and is not paid. `fence` is this run's hold on its job."""

    fence: Claim
    unpaid_for: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkPaid:
    """The order's payment settled. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    payment_id: UUID
    settled_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkDeclined:
    """The order's payment was declined. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    payment_id: UUID
    reason: str
    declined_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkCancelled:
    """The order's payment was cancelled, no money is kept. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    payment_id: UUID
    cancelled_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRefund:
    """`amount_minor` of the order's payment was given back, once. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    refund_id: UUID
    amount_minor: int
    currency: str
    refunded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordInvoice:
    """The order's invoice was issued. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    invoice_id: UUID
    invoice_number: str
    issued_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCreditNote:
    """A credit note was issued for a refund of the order. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    credit_note_id: UUID
    credit_note_number: str
    refund_id: UUID
    issued_at: datetime
