"""`payment.settled` lets billing issue the invoice."""

from __future__ import annotations

from typing import ClassVar

from billing_service.domain.invoices import InvoiceService, RecordSettledPayment, SettledHalf
from billing_service.events.payment import PaymentSettled
from service_platform.event_bus import Consumer, Delivery, Event


class RecordSettledPaymentOnPaymentSettled(Consumer[PaymentSettled]):
    """Records each payment that settles."""

    name: ClassVar[str] = "billing.record-settled-payment"
    event: ClassVar[type[Event]] = PaymentSettled

    def __init__(self, invoices: InvoiceService) -> None:
        self._invoices = invoices

    async def handle(self, delivery: Delivery[PaymentSettled]) -> None:
        payment = delivery.event
        await self._invoices.record_settled_payment(
            RecordSettledPayment(
                claim=delivery.claim,
                order_id=payment.order_id,
                settled=SettledHalf(
                    payment_id=payment.payment_id,
                    paid_minor=payment.amount_minor,
                    paid_currency=payment.currency,
                    settled_at=payment.settled_at,
                ),
            )
        )
