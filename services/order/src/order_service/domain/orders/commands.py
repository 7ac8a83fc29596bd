"""What a door can ask of this capability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
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
class RecordInvoice:
    """The order's invoice was issued. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    invoice_id: UUID
    invoice_number: str
    issued_at: datetime
