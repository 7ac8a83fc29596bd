"""Delivers an issued credit note: make its PDF, mail it."""

from __future__ import annotations

from typing import ClassVar

from billing_service.domain.invoices import (
    DELIVER_CREDIT_NOTE,
    CreditNoteDelivery,
    DeliverCreditNotePayload,
    MailCreditNote,
    RenderCreditNote,
)
from service_platform.jobs import FencedProcessor, JobRun, Step


class RenderCreditNoteStep(Step[DeliverCreditNotePayload]):
    """Makes the PDF and stores it."""

    name: ClassVar[str] = "render-credit-note"

    def __init__(self, delivery: CreditNoteDelivery) -> None:
        self._delivery = delivery

    async def run(self, run: JobRun[DeliverCreditNotePayload]) -> None:
        note_id = run.payload.credit_note_id
        await self._delivery.render(RenderCreditNote(fence=run.fence(self.name), credit_note_id=note_id))


class MailCreditNoteStep(Step[DeliverCreditNotePayload]):
    """Mails the PDF to the customer."""

    name: ClassVar[str] = "mail-credit-note"

    def __init__(self, delivery: CreditNoteDelivery) -> None:
        self._delivery = delivery

    async def run(self, run: JobRun[DeliverCreditNotePayload]) -> None:
        note_id = run.payload.credit_note_id
        await self._delivery.mail(MailCreditNote(fence=run.fence(self.name), credit_note_id=note_id))


class DeliverCreditNote(FencedProcessor[DeliverCreditNotePayload]):
    """The delivery of one credit note."""

    kind = DELIVER_CREDIT_NOTE

    def __init__(self, delivery: CreditNoteDelivery) -> None:
        super().__init__([RenderCreditNoteStep(delivery), MailCreditNoteStep(delivery)])
