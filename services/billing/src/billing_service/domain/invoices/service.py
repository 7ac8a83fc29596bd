"""The use cases of invoicing. Each is one transaction, which begins with the command's claim."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from billing_service.events import CreditNoteIssued, InvoiceIssued
from service_platform.database import Database, Transaction
from service_platform.event_bus import EventBus

from .commands import RecordPlacedOrder, RecordRefund, RecordSettledPayment
from .credit import CreditNoteDraft, Refund, draft_credit_note
from .credit_note_table import CreditNoteTable
from .gathering import GatheredOrderTable
from .invoice_table import InvoiceTable, find_of_order
from .job_kinds import enqueue_deliver_credit_note, enqueue_deliver_invoice
from .models import GatheredOrder, Invoice, InvoiceDraft, draft_invoice


class InvoiceService:
    """Gathers what order and payment tell about an order, issues its one invoice when it has both halves, and a credit
    note for each refund once there is an invoice to refer to."""

    def __init__(
        self,
        database: Database,
        orders: GatheredOrderTable,
        invoices: InvoiceTable,
        credit_notes: CreditNoteTable,
        event_bus: EventBus,
    ) -> None:
        self._database = database
        self._orders = orders
        self._invoices = invoices
        self._credit_notes = credit_notes
        self._event_bus = event_bus

    async def record_placed_order(self, command: RecordPlacedOrder) -> None:
        """Keep the order's half; issue the invoice if the payment's half was there.

        Raises `PaidAmountDiffers`, `RefundExceedsInvoice`.
        """
        async with self._database.transaction(claim=command.claim) as tx:
            order = await self._orders.keep_placed(command.order_id, command.placed, tx)
            await self._issue_when_complete(order, tx)

    async def record_settled_payment(self, command: RecordSettledPayment) -> None:
        """Keep the payment's half; issue the invoice if the order's half was there.

        Raises `PaidAmountDiffers`, `RefundExceedsInvoice`.
        """
        async with self._database.transaction(claim=command.claim) as tx:
            order = await self._orders.keep_settled(command.order_id, command.settled, tx)
            await self._issue_when_complete(order, tx)

    async def record_refund(self, command: RecordRefund) -> None:
        """Keep the refund and issue its credit note; where the invoice is still to come, it issues them together.

        Raises `RefundExceedsInvoice`.
        """
        async with self._database.transaction(claim=command.claim) as tx:
            if not await self._orders.keep_refund(command.order_id, command.refund, tx):
                return
            invoice = await find_of_order(command.order_id, tx.session)
            if invoice is not None:
                drafts = await self._draft_credit_notes(invoice, [command.refund], tx)
                await self._issue_credit_notes(drafts, invoice, tx)

    async def _issue_when_complete(self, order: GatheredOrder | None, tx: Transaction) -> None:
        """`tx` holds the order's row lock, so one of the two halves completes it, never both, never none.

        What is numbered holds up every other issue, so nothing but publishing comes after it.
        """
        if order is None or not order.is_complete:
            return
        draft = draft_invoice(uuid4(), order)
        await enqueue_deliver_invoice(draft.id, tx)
        credit_drafts = await self._draft_credit_notes(draft, await self._orders.uncredited(order.order_id, tx), tx)
        invoice = await self._invoices.issue(draft, tx)
        issued = InvoiceIssued.create(
            order_id=invoice.order_id,
            invoice_id=invoice.id,
            invoice_number=invoice.number,
            total_minor=invoice.total_minor,
            currency=invoice.currency,
            issued_at=invoice.issued_at,
        )
        await self._event_bus.publish(issued, tx)
        await self._issue_credit_notes(credit_drafts, invoice, tx)

    async def _draft_credit_notes(
        self, invoice: Invoice | InvoiceDraft, refunds: Sequence[Refund], tx: Transaction
    ) -> Sequence[CreditNoteDraft]:
        """The credit notes of these refunds, in their order, and the jobs that will deliver them."""
        drafts: list[CreditNoteDraft] = []
        credited = [*await self._credit_notes.credited(invoice.id, tx)]
        for refund in refunds:
            draft = draft_credit_note(uuid4(), invoice, refund, credited)
            await enqueue_deliver_credit_note(draft.id, tx)
            credited += draft.taxes
            drafts.append(draft)
        return drafts

    async def _issue_credit_notes(self, drafts: Sequence[CreditNoteDraft], invoice: Invoice, tx: Transaction) -> None:
        for draft in drafts:
            note = await self._credit_notes.issue(draft, invoice, tx)
            issued = CreditNoteIssued.create(
                order_id=note.order_id,
                invoice_id=note.invoice_id,
                credit_note_id=note.id,
                credit_note_number=note.number,
                refund_id=note.refund_id,
                total_minor=note.total_minor,
                currency=note.currency,
                issued_at=note.issued_at,
            )
            await self._event_bus.publish(issued, tx)
