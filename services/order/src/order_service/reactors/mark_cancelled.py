"""`payment.cancelled` makes the order cancelled."""

from __future__ import annotations

from typing import ClassVar

from order_service.domain.orders import MarkCancelled, OrderService
from order_service.events.payment import PaymentCancelled
from service_platform.event_bus import Consumer, Delivery, Event


class MarkCancelledOnPaymentCancelled(Consumer[PaymentCancelled]):
    """Marks each order cancelled whose payment was."""

    name: ClassVar[str] = "order.mark-cancelled"
    event: ClassVar[type[Event]] = PaymentCancelled

    def __init__(self, orders: OrderService) -> None:
        self._orders = orders

    async def handle(self, delivery: Delivery[PaymentCancelled]) -> None:
        cancelled = delivery.event
        await self._orders.mark_cancelled(
            MarkCancelled(
                claim=delivery.claim,
                order_id=cancelled.order_id,
                payment_id=cancelled.payment_id,
                cancelled_at=cancelled.cancelled_at,
            )
        )
