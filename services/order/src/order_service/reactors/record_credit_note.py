"""`credit_note.issued` gives the order the number of a credit note."""

from __future__ import annotations

from typing import ClassVar

from order_service.domain.orders import OrderService, RecordCreditNote
from order_service.events.billing import CreditNoteIssued
from service_platform.event_bus import Consumer, Delivery, Event


class RecordCreditNoteOnCreditNoteIssued(Consumer[CreditNoteIssued]):
    """Records each credit note of an order."""

    name: ClassVar[str] = "order.record-credit-note"
    event: ClassVar[type[Event]] = CreditNoteIssued

    def __init__(self, orders: OrderService) -> None:
        self._orders = orders

    async def handle(self, delivery: Delivery[CreditNoteIssued]) -> None:
        note = delivery.event
        await self._orders.record_credit_note(
            RecordCreditNote(
                claim=delivery.claim,
                order_id=note.order_id,
                credit_note_id=note.credit_note_id,
                credit_note_number=note.credit_note_number,
                refund_id=note.refund_id,
                issued_at=note.issued_at,
            )
        )
