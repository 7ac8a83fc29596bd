"""`order.placed` opens a payment."""

from __future__ import annotations

from typing import ClassVar

from payment_service.domain.payments import OpenPayment, PaymentService
from payment_service.events.order import OrderPlaced
from service_platform.event_bus import Consumer, Delivery, Event


class OpenPaymentOnOrderPlaced(Consumer[OrderPlaced]):
    """Opens the payment of each order that is placed."""

    name: ClassVar[str] = "payment.open-payment"
    event: ClassVar[type[Event]] = OrderPlaced

    def __init__(self, payments: PaymentService) -> None:
        self._payments = payments

    async def handle(self, delivery: Delivery[OrderPlaced]) -> None:
        order = delivery.event
        await self._payments.open_payment(
            OpenPayment(
                claim=delivery.claim,
                order_id=order.order_id,
                total_minor=order.total_minor,
                currency=order.currency,
                payment_method=order.payment_method,
            )
        )
