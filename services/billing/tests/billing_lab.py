"""What the tests of the billing service share: halves of an order, claims, and a mail server in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import text

from billing_service.bootstrap import invoice_service
from billing_service.domain.invoices import (
    CreditNoteQueries,
    CreditNoteView,
    InvoiceLine,
    InvoiceQueries,
    InvoiceView,
    Mail,
    PlacedHalf,
    RecordPlacedOrder,
    RecordRefund,
    RecordSettledPayment,
    Refund,
    SettledHalf,
)
from service_platform.database import Database, Transaction, forbid_in_transaction
from service_platform.event_bus import Event, EventBus
from service_platform.inbox import InboxClaim

PLACED = PlacedHalf(
    customer_id="ann",
    customer_email="ann@example.com",
    language="vi",
    currency="USD",
    lines=[
        InvoiceLine(sku="TEA-1", quantity=2, unit_price_minor=1_250, tax_rate_bp=1_000),
        InvoiceLine(sku="CUP-1", quantity=1, unit_price_minor=750, tax_rate_bp=800),
    ],
)
SETTLED = SettledHalf(
    payment_id=UUID(int=7),
    paid_minor=3_250,
    paid_currency="USD",
    settled_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
)

REFUNDED_AT = datetime(2026, 3, 2, 12, tzinfo=UTC)


def delivery(source: str) -> InboxClaim:
    """The claim of an event that was never delivered before.

    Its key is its own: deliveries of one key wait for each other, and these here meet at the order's row.
    """
    return InboxClaim("billing.test", source, uuid4().hex, uuid4())


def record_placed(order_id: UUID, placed: PlacedHalf = PLACED) -> RecordPlacedOrder:
    return RecordPlacedOrder(claim=delivery("order"), order_id=order_id, placed=placed)


def record_settled(order_id: UUID, settled: SettledHalf | None = None) -> RecordSettledPayment:
    return RecordSettledPayment(
        claim=delivery("payment"),
        order_id=order_id,
        settled=settled or replace(SETTLED, payment_id=uuid4()),
    )


def record_refund(
    order_id: UUID, amount_minor: int = 3_250, *, refund_id: UUID | None = None, currency: str = "USD"
) -> RecordRefund:
    refund = Refund(
        refund_id=refund_id or uuid4(), amount_minor=amount_minor, currency=currency, refunded_at=REFUNDED_AT
    )
    return RecordRefund(claim=delivery("payment"), order_id=order_id, refund=refund)


async def issued(database: Database, placed: PlacedHalf = PLACED) -> InvoiceView:
    """An invoice that stands in the database."""
    service = invoice_service(database)
    order_id = uuid4()
    paid_minor = sum(line.gross_minor for line in placed.lines)
    settled = replace(SETTLED, payment_id=uuid4(), paid_minor=paid_minor, paid_currency=placed.currency)
    await service.record_placed_order(record_placed(order_id, placed))
    await service.record_settled_payment(record_settled(order_id, settled))
    return next(invoice for invoice in await all_invoices(database) if invoice.order_id == order_id)


async def all_invoices(database: Database) -> list[InvoiceView]:
    return await InvoiceQueries(database).newest(customer_id=None, before=None, limit=1_000)


async def all_credit_notes(database: Database) -> list[CreditNoteView]:
    return await CreditNoteQueries(database).newest(customer_id=None, before=None, limit=1_000)


async def rows(database: Database, query: str) -> list[tuple[object, ...]]:
    async with database.read() as session:
        return [tuple(row) for row in await session.execute(text(query))]


class HeldFence:
    """The fence of a run that nobody took over."""

    async def acquire(self, tx: Transaction) -> None:
        return None


@dataclass
class MemoryMailer:
    """A mail server and its mailbox. `sent` is what it took; each error of `failures` is raised by one try.

    A failure that comes with True is raised after the mail was taken: the answer was lost.
    """

    sent: list[Mail] = field(default_factory=list)
    failures: list[tuple[Exception, bool]] = field(default_factory=list)
    looks: int = 0

    async def send(self, mail: Mail) -> None:
        forbid_in_transaction("send")
        if self.failures:
            error, taken = self.failures.pop(0)
            if taken:
                self.sent.append(mail)
            raise error
        self.sent.append(mail)

    async def took(self, message_id: str) -> bool:
        forbid_in_transaction("took")
        self.looks += 1
        return any(mail.message_id == message_id for mail in self.sent)


class FlakyBus(EventBus):
    """Fails for every order of `refused`, after everything else of the transaction is done."""

    def __init__(self, refused: set[UUID]) -> None:
        super().__init__("billing")
        self._refused = refused

    async def publish(self, event: Event, tx: Transaction) -> None:
        if UUID(event.key) in self._refused:
            raise RuntimeError("planted")
        await super().publish(event, tx)
