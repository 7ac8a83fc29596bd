"""The use cases of invoicing. Each is one transaction, which begins with the command's claim."""

from __future__ import annotations

from uuid import uuid4

from billing_service.events import InvoiceIssued
from service_platform.database import Database, Transaction
from service_platform.event_bus import EventBus

from .commands import RecordPlacedOrder, RecordSettledPayment
from .gathering import GatheredOrderTable
from .invoice_table import InvoiceTable
from .job_kinds import enqueue_deliver_invoice
from .models import GatheredOrder, draft_invoice


class InvoiceService:
    """Gathers what order and payment tell about an order, and issues its one invoice when it has both."""

    def __init__(
        self, database: Database, orders: GatheredOrderTable, invoices: InvoiceTable, event_bus: EventBus
    ) -> None:
        self._database = database
        self._orders = orders
        self._invoices = invoices
        self._event_bus = event_bus

    async def record_placed_order(self, command: RecordPlacedOrder) -> None:
        """Keep the order's half; issue the invoice if the payment's half was there. Raises `PaidAmountDiffers`."""
        async with self._database.transaction(claim=command.claim) as tx:
            order = await self._orders.keep_placed(command.order_id, command.placed, tx)
            await self._issue_when_complete(order, tx)

    async def record_settled_payment(self, command: RecordSettledPayment) -> None:
        """Keep the payment's half; issue the invoice if the order's half was there. Raises `PaidAmountDiffers`."""
        async with self._database.transaction(claim=command.claim) as tx:
            order = await self._orders.keep_settled(command.order_id, command.settled, tx)
            await self._issue_when_complete(order, tx)

    async def _issue_when_complete(self, order: GatheredOrder | None, tx: Transaction) -> None:
        """`tx` holds the order's row lock, so one of the two halves completes it, never both, never none."""
        if order is None or not order.is_complete:
            return
        draft = draft_invoice(uuid4(), order)
        await enqueue_deliver_invoice(draft.id, tx)
        invoice = await self._invoices.issue(draft, tx)  # holds up every other issue: nothing but publishing after it
        issued = InvoiceIssued.create(
            order_id=invoice.order_id,
            invoice_id=invoice.id,
            invoice_number=invoice.number,
            total_minor=invoice.total_minor,
            currency=invoice.currency,
            issued_at=invoice.issued_at,
        )
        await self._event_bus.publish(issued, tx)
