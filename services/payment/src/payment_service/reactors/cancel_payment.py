"""`order.cancel_requested` cancels a payment, or gives it back."""

from __future__ import annotations

from typing import ClassVar

from payment_service.domain.payments import CancelPayment, PaymentService
from payment_service.events.order import OrderCancelRequested
from service_platform.event_bus import Consumer, Delivery, Event


class CancelPaymentOnOrderCancelRequested(Consumer[OrderCancelRequested]):
    """Answers each order's cancel. It may come before `open-payment` has opened the payment: each retries by itself."""

    name: ClassVar[str] = "payment.cancel-payment"
    event: ClassVar[type[Event]] = OrderCancelRequested

    def __init__(self, payments: PaymentService) -> None:
        self._payments = payments

    async def handle(self, delivery: Delivery[OrderCancelRequested]) -> None:
        await self._payments.cancel(CancelPayment(claim=delivery.claim, order_id=delivery.event.order_id))
