"""`payment.refunded` says how much of the order was given back."""

from __future__ import annotations

from typing import ClassVar

from order_service.domain.orders import OrderService, RecordRefund
from order_service.events.payment import PaymentRefunded
from service_platform.event_bus import Consumer, Delivery, Event


class RecordRefundOnPaymentRefunded(Consumer[PaymentRefunded]):
    """Records each refund; the last one ends a cancel."""

    name: ClassVar[str] = "order.record-refund"
    event: ClassVar[type[Event]] = PaymentRefunded

    def __init__(self, orders: OrderService) -> None:
        self._orders = orders

    async def handle(self, delivery: Delivery[PaymentRefunded]) -> None:
        refund = delivery.event
        await self._orders.record_refund(
            RecordRefund(
                claim=delivery.claim,
                order_id=refund.order_id,
                refund_id=refund.refund_id,
                amount_minor=refund.amount_minor,
                currency=refund.currency,
                refunded_at=refund.refunded_at,
            )
        )
