"""`payment.settled` makes the order paid."""

from __future__ import annotations

from typing import ClassVar

from order_service.domain.orders import MarkPaid, OrderService
from order_service.events.payment import PaymentSettled
from service_platform.event_bus import Consumer, Delivery, Event


class MarkPaidOnPaymentSettled(Consumer[PaymentSettled]):
    """Marks each order paid whose payment settled."""

    name: ClassVar[str] = "order.mark-paid"
    event: ClassVar[type[Event]] = PaymentSettled

    def __init__(self, orders: OrderService) -> None:
        self._orders = orders

    async def handle(self, delivery: Delivery[PaymentSettled]) -> None:
        settled = delivery.event
        await self._orders.mark_paid(
            MarkPaid(
                claim=delivery.claim,
                order_id=settled.order_id,
                payment_id=settled.payment_id,
                settled_at=settled.settled_at,
            )
        )
