"""What a customer has in each database: made by the services' own use cases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import text

from billing_service.bootstrap import invoice_service
from billing_service.domain.invoices import (
    CreditNoteQueries,
    InvoiceLine,
    InvoiceQueries,
    PlacedHalf,
    RecordPlacedOrder,
    RecordRefund,
    RecordSettledPayment,
    Refund,
    SettledHalf,
)
from order_service.bootstrap import order_service
from order_service.domain.orders import OrderLine, PlaceOrder
from payment_service.bootstrap import build_services
from payment_service.domain.payments import OpenPayment, RequestRefund
from payment_service.integrations import StripeCardProvider
from service_platform.database import Database
from service_platform.idempotency import IdempotencyClaim
from service_platform.inbox import InboxClaim

_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
_TOTAL_MINOR = 3_250

Seed = Callable[[Database, str], Awaitable[dict[str, UUID]]]
"""Gives a customer their things in a service's empty database; their ids, by the names that paths have for them."""


async def _order(database: Database, customer: str) -> dict[str, UUID]:
    order = await order_service(database).place(
        PlaceOrder(
            idempotency=_key("place_order"),
            customer_id=customer,
            customer_email="ann@example.com",
            locale="vi",
            currency="USD",
            payment_method="pm_card_visa",
            lines=[OrderLine(sku="TEA-1", quantity=2, unit_price_minor=1_625, tax_rate_bp=1_000)],
        )
    )
    return {"order_id": order.id}


async def _payment(database: Database, customer: str) -> dict[str, UUID]:
    """A payment names no customer. It is captured here by a statement: no test of this folder calls a provider."""
    provider = StripeCardProvider(api_key="none", api_base="http://127.0.0.1:1")
    services = build_services(database, provider)
    await services.payments.open_payment(
        OpenPayment(
            claim=_delivery("order"),
            order_id=uuid4(),
            total_minor=_TOTAL_MINOR,
            currency="USD",
            payment_method="pm_card_visa",
        )
    )
    async with database.transaction() as tx:
        answer = await tx.session.execute(
            text(
                "UPDATE payments SET status = 'settled', intent_id = 'pi_seeded', "
                "concluded_at = platform_now() RETURNING id"
            )
        )
        payment_id: UUID = answer.scalar_one()
    refund = await services.refunds.request(
        RequestRefund(idempotency=_key("refund_payment"), payment_id=payment_id, amount_minor=250)
    )
    await provider.close()
    return {"payment_id": payment_id, "refund_id": refund.id}


async def _billing(database: Database, customer: str) -> dict[str, UUID]:
    service = invoice_service(database)
    order_id = uuid4()
    placed = PlacedHalf(
        customer_id=customer,
        customer_email="ann@example.com",
        language="vi",
        currency="USD",
        lines=[InvoiceLine(sku="TEA-1", quantity=2, unit_price_minor=1_625, tax_rate_bp=1_000)],
    )
    settled = SettledHalf(payment_id=uuid4(), paid_minor=_TOTAL_MINOR, paid_currency="USD", settled_at=_AT)
    refund = Refund(refund_id=uuid4(), amount_minor=250, currency="USD", refunded_at=_AT)
    await service.record_placed_order(RecordPlacedOrder(claim=_delivery("order"), order_id=order_id, placed=placed))
    await service.record_settled_payment(
        RecordSettledPayment(claim=_delivery("payment"), order_id=order_id, settled=settled)
    )
    await service.record_refund(RecordRefund(claim=_delivery("payment"), order_id=order_id, refund=refund))
    (invoice,) = await InvoiceQueries(database).newest(customer_id=customer, before=None, limit=2)
    (note,) = await CreditNoteQueries(database).newest(customer_id=customer, before=None, limit=2)
    return {"invoice_id": invoice.id, "credit_note_id": note.id}


SEEDS: Mapping[str, Seed] = {"order": _order, "payment": _payment, "billing": _billing}


def _delivery(source: str) -> InboxClaim:
    return InboxClaim("test.seed", source, uuid4().hex, uuid4())


def _key(operation: str) -> IdempotencyClaim:
    return IdempotencyClaim(subject="seed", operation=operation, key=uuid4().hex, fingerprint=b"1")
