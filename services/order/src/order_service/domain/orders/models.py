"""An order, its lines and its states: plain values, no storage, no calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from iso4217 import Currency

from service_platform.messages import Language

from .errors import TotalTooLarge, UnknownCurrency
from .limits import MAX_TOTAL_MINOR


class OrderStatus(StrEnum):
    """pending_payment → paid | declined, and pending_payment | paid → cancelling → cancelled.

    A cancel only asks: what becomes of the money is payment's to say, and its answer leaves `cancelling`. Once
    `cancelled`, an order keeps no money: none was captured, or all of it was given back.
    """

    PENDING_PAYMENT = "pending_payment"
    PAID = "paid"
    DECLINED = "declined"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"


class CancelReason(StrEnum):
    """Why an order is being cancelled: its customer wants it, or it was not paid in time."""

    CUSTOMER = "customer"
    EXPIRED = "expired"


class TimelineEvent(StrEnum):
    """What an order's timeline tells of, in the words of the events that carried it; and its end."""

    PLACED = "order.placed"
    CANCEL_REQUESTED = "order.cancel_requested"
    CANCELLED = "order.cancelled"
    SETTLED = "payment.settled"
    DECLINED = "payment.declined"
    PAYMENT_CANCELLED = "payment.cancelled"
    REFUNDED = "payment.refunded"
    INVOICED = "invoice.issued"
    CREDITED = "credit_note.issued"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """`quantity` pieces of `sku`. The price of one is in minor units and includes tax; the rate is in basis points."""

    sku: str
    quantity: int
    unit_price_minor: int
    tax_rate_bp: int

    @property
    def total_minor(self) -> int:
        return self.quantity * self.unit_price_minor


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """Something that happened to an order. `at` is when it occurred, not when this service heard of it."""

    at: datetime
    event: TimelineEvent
    detail: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFilter:
    """Which orders to list: None means any. `placed_from` is the first moment, `placed_before` the first one after."""

    statuses: Sequence[OrderStatus] | None = None
    placed_from: datetime | None = None
    placed_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRequest:
    """That an order is to be cancelled; it is cancelling since."""

    order_id: UUID
    reason: CancelReason
    requested_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order as it is stored. Amounts count minor units of `currency` (ISO 4217) and include tax.

    `paid_at` is when its payment settled, also of an order that was cancelled since.
    """

    id: UUID
    customer_id: str
    customer_email: str
    locale: Language
    status: OrderStatus
    currency: str
    total_minor: int
    refunded_minor: int
    payment_method: str
    placed_at: datetime
    paid_at: datetime | None
    cancel_reason: CancelReason | None
    cancel_requested_at: datetime | None
    invoice_number: str | None
    credit_note_numbers: Sequence[str]
    lines: Sequence[OrderLine]
    timeline: Sequence[TimelineEntry]


def total_of(lines: Sequence[OrderLine], currency: str) -> int:
    """What the lines cost together, in minor units of `currency`. Raises `UnknownCurrency`, `TotalTooLarge`."""
    if currency not in _CURRENCIES:
        raise UnknownCurrency(currency=currency)
    total_minor = sum(line.total_minor for line in lines)
    if total_minor > MAX_TOTAL_MINOR:
        raise TotalTooLarge(total_minor=total_minor, max_total_minor=MAX_TOTAL_MINOR)
    return total_minor


# Without a minor unit are the metals, funds and test codes of the standard: nothing can be priced in them.
_CURRENCIES = frozenset(currency.code for currency in Currency if currency.exponent is not None)
