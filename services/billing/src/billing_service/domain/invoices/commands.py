"""What a door can ask of this capability."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from service_platform.database import Claim

from .credit import Refund
from .models import PlacedHalf, SettledHalf


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPlacedOrder:
    """Keep the order's half. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    placed: PlacedHalf


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettledPayment:
    """Keep the payment's half. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    settled: SettledHalf


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRefund:
    """Keep that money of the order was given back. `claim` is the delivery's inbox claim."""

    claim: Claim
    order_id: UUID
    refund: Refund


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderInvoice:
    """Make the invoice's document. `fence` is this run's hold on its job."""

    fence: Claim
    invoice_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class MailInvoice:
    """Send the invoice to its customer. `fence` is this run's hold on its job."""

    fence: Claim
    invoice_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderCreditNote:
    """Make the credit note's document. `fence` is this run's hold on its job."""

    fence: Claim
    credit_note_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class MailCreditNote:
    """Send the credit note to its customer. `fence` is this run's hold on its job."""

    fence: Claim
    credit_note_id: UUID
