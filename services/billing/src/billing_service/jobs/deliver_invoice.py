"""Delivers an issued invoice: make its PDF, mail it."""

from __future__ import annotations

from typing import ClassVar

from billing_service.domain.invoices import (
    DELIVER_INVOICE,
    DeliverInvoicePayload,
    InvoiceDelivery,
    MailInvoice,
    RenderInvoice,
)
from service_platform.jobs import FencedProcessor, JobRun, Step


class RenderInvoiceStep(Step[DeliverInvoicePayload]):
    """Makes the PDF and stores it."""

    name: ClassVar[str] = "render-invoice"

    def __init__(self, delivery: InvoiceDelivery) -> None:
        self._delivery = delivery

    async def run(self, run: JobRun[DeliverInvoicePayload]) -> None:
        await self._delivery.render(RenderInvoice(fence=run.fence(self.name), invoice_id=run.payload.invoice_id))


class MailInvoiceStep(Step[DeliverInvoicePayload]):
    """Mails the PDF to the customer."""

    name: ClassVar[str] = "mail-invoice"

    def __init__(self, delivery: InvoiceDelivery) -> None:
        self._delivery = delivery

    async def run(self, run: JobRun[DeliverInvoicePayload]) -> None:
        await self._delivery.mail(MailInvoice(fence=run.fence(self.name), invoice_id=run.payload.invoice_id))


class DeliverInvoice(FencedProcessor[DeliverInvoicePayload]):
    """The delivery of one invoice."""

    kind = DELIVER_INVOICE

    def __init__(self, delivery: InvoiceDelivery) -> None:
        super().__init__([RenderInvoiceStep(delivery), MailInvoiceStep(delivery)])
