"""`payment.refunded` lets billing issue a credit note."""

from __future__ import annotations

from typing import ClassVar

from billing_service.domain.invoices import InvoiceService, RecordRefund, Refund
from billing_service.events.payment import PaymentRefunded
from service_platform.event_bus import Consumer, Delivery, Event


class RecordRefundOnPaymentRefunded(Consumer[PaymentRefunded]):
    """Records each refund of a payment."""

    name: ClassVar[str] = "billing.record-refund"
    event: ClassVar[type[Event]] = PaymentRefunded

    def __init__(self, invoices: InvoiceService) -> None:
        self._invoices = invoices

    async def handle(self, delivery: Delivery[PaymentRefunded]) -> None:
        refund = delivery.event
        await self._invoices.record_refund(
            RecordRefund(
                claim=delivery.claim,
                order_id=refund.order_id,
                refund=Refund(
                    refund_id=refund.refund_id,
                    amount_minor=refund.amount_minor,
                    currency=refund.currency,
                    refunded_at=refund.refunded_at,
                ),
            )
        )
