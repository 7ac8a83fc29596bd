"""`order.placed` gives billing its own copy of the lines."""

from __future__ import annotations

from typing import ClassVar

from billing_service.domain.invoices import InvoiceLine, InvoiceService, PlacedHalf, RecordPlacedOrder, language_of
from billing_service.events.order import OrderPlaced
from service_platform.event_bus import Consumer, Delivery, Event


class RecordPlacedOrderOnOrderPlaced(Consumer[OrderPlaced]):
    """Records each order that is placed."""

    name: ClassVar[str] = "billing.record-placed-order"
    event: ClassVar[type[Event]] = OrderPlaced

    def __init__(self, invoices: InvoiceService) -> None:
        self._invoices = invoices

    async def handle(self, delivery: Delivery[OrderPlaced]) -> None:
        order = delivery.event
        await self._invoices.record_placed_order(
            RecordPlacedOrder(
                claim=delivery.claim,
                order_id=order.order_id,
                placed=PlacedHalf(
                    customer_id=order.customer_id,
                    customer_email=order.customer_email,
                    language=language_of(order.locale),
                    currency=order.currency,
                    lines=[InvoiceLine(**line.model_dump()) for line in order.lines],
                ),
            )
        )
