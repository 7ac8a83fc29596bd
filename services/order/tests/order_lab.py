"""What the tests of the order service share: commands, and claims as deliveries and requests bring them."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from order_service.bootstrap import order_service
from order_service.domain.orders import (
    CancelOrder,
    MarkCancelled,
    MarkDeclined,
    MarkPaid,
    OrderLine,
    OrderQueries,
    OrderView,
    PlaceOrder,
    RecordCreditNote,
    RecordInvoice,
    RecordRefund,
)
from service_platform.database import Database
from service_platform.idempotency import IdempotencyClaim
from service_platform.inbox import InboxClaim

SETTLED_AT = datetime(2026, 3, 1, 12, 0, 1, tzinfo=UTC)
ISSUED_AT = datetime(2026, 3, 1, 12, 0, 2, tzinfo=UTC)
REFUNDED_AT = datetime(2026, 3, 1, 12, 0, 3, tzinfo=UTC)
CREDITED_AT = datetime(2026, 3, 1, 12, 0, 4, tzinfo=UTC)
TOTAL_MINOR = 3_250
"""What the order of `place_order` costs."""


def key(text: str | None = None, *, subject: str = "ann", body: str = "same") -> IdempotencyClaim:
    """The claim of a request: a key, and a fingerprint of what was asked."""
    return IdempotencyClaim(
        subject=subject,
        operation="place_order",
        key=text or uuid4().hex,
        fingerprint=hashlib.sha256(body.encode()).digest(),
        location="/orders/{id}",
    )


def delivery(consumer: str = "order.test", source: str = "payment") -> InboxClaim:
    """The claim of an event that was never delivered before.

    Its key is its own: deliveries of one key wait for each other, and these here meet at the order's row.
    """
    return InboxClaim(consumer, source, uuid4().hex, uuid4())


def place_order(**changes: Any) -> PlaceOrder:
    """A good order: two lines, 3,250 minor units."""
    values: dict[str, Any] = {
        "idempotency": key(),
        "customer_id": "ann",
        "customer_email": "ann@example.com",
        "locale": "vi",
        "currency": "USD",
        "payment_method": "pm_card_visa",
        "lines": [
            OrderLine(sku="TEA-1", quantity=2, unit_price_minor=1_250, tax_rate_bp=1_000),
            OrderLine(sku="CUP-1", quantity=1, unit_price_minor=750, tax_rate_bp=800),
        ],
    }
    return PlaceOrder(**(values | changes))


async def placed(database: Database, **changes: Any) -> OrderView:
    """An order that stands in the database."""
    return await order_service(database).place(place_order(**changes))


async def shown(database: Database, order_id: UUID) -> OrderView:
    """The order as it stands."""
    return await OrderQueries(database).get(order_id, customer_id=None)


def cancel_order(order_id: UUID, customer_id: str = "ann") -> CancelOrder:
    return CancelOrder(customer_id=customer_id, order_id=order_id)


def mark_paid(order_id: UUID) -> MarkPaid:
    return MarkPaid(claim=delivery(), order_id=order_id, payment_id=uuid4(), settled_at=SETTLED_AT)


def mark_declined(order_id: UUID) -> MarkDeclined:
    return MarkDeclined(
        claim=delivery(), order_id=order_id, payment_id=uuid4(), reason="card_declined", declined_at=SETTLED_AT
    )


def mark_cancelled(order_id: UUID) -> MarkCancelled:
    return MarkCancelled(claim=delivery(), order_id=order_id, payment_id=uuid4(), cancelled_at=SETTLED_AT)


def record_refund(order_id: UUID, amount_minor: int = TOTAL_MINOR, currency: str = "USD") -> RecordRefund:
    return RecordRefund(
        claim=delivery(),
        order_id=order_id,
        refund_id=uuid4(),
        amount_minor=amount_minor,
        currency=currency,
        refunded_at=REFUNDED_AT,
    )


def record_credit_note(order_id: UUID, number: str = "CN-2026-000001") -> RecordCreditNote:
    return RecordCreditNote(
        claim=delivery(source="billing"),
        order_id=order_id,
        credit_note_id=uuid4(),
        credit_note_number=number,
        refund_id=uuid4(),
        issued_at=CREDITED_AT,
    )


def record_invoice(order_id: UUID) -> RecordInvoice:
    return RecordInvoice(
        claim=delivery(source="billing"),
        order_id=order_id,
        invoice_id=uuid4(),
        invoice_number="INV-2026-000001",
        issued_at=ISSUED_AT,
    )
