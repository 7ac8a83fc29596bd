"""`payment.declined` makes the order declined."""

from __future__ import annotations

from typing import ClassVar

from order_service.domain.orders import MarkDeclined, OrderService
from order_service.events.payment import PaymentDeclined
from service_platform.event_bus import Consumer, Delivery, Event


class MarkDeclinedOnPaymentDeclined(Consumer[PaymentDeclined]):
    """Marks each order declined whose payment was."""

    name: ClassVar[str] = "order.mark-declined"
    event: ClassVar[type[Event]] = PaymentDeclined

    def __init__(self, orders: OrderService) -> None:
        self._orders = orders

    async def handle(self, delivery: Delivery[PaymentDeclined]) -> None:
        declined = delivery.event
        await self._orders.mark_declined(
            MarkDeclined(
                claim=delivery.claim,
                order_id=declined.order_id,
                payment_id=declined.payment_id,
                reason=declined.reason,
                declined_at=declined.declined_at,
            )
        )
