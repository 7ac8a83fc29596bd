"""`invoice.issued` gives the order its invoice number."""

from __future__ import annotations

from typing import ClassVar

from order_service.domain.orders import OrderService, RecordInvoice
from order_service.events.billing import InvoiceIssued
from service_platform.event_bus import Consumer, Delivery, Event


class RecordInvoiceOnInvoiceIssued(Consumer[InvoiceIssued]):
    """Records each order's invoice."""

    name: ClassVar[str] = "order.record-invoice"
    event: ClassVar[type[Event]] = InvoiceIssued

    def __init__(self, orders: OrderService) -> None:
        self._orders = orders

    async def handle(self, delivery: Delivery[InvoiceIssued]) -> None:
        invoice = delivery.event
        await self._orders.record_invoice(
            RecordInvoice(
                claim=delivery.claim,
                order_id=invoice.order_id,
                invoice_id=invoice.invoice_id,
                invoice_number=invoice.invoice_number,
                issued_at=invoice.issued_at,
            )
        )
