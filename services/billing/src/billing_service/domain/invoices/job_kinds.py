"""The jobs of this capability."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from service_platform.database import Transaction
from service_platform.jobs import JobKind


class DeliverInvoicePayload(BaseModel):
    """Which invoice to render and mail."""

    model_config = ConfigDict(frozen=True)

    invoice_id: UUID


class DeliverCreditNotePayload(BaseModel):
    """Which credit note to render and mail."""

    model_config = ConfigDict(frozen=True)

    credit_note_id: UUID


DELIVER_INVOICE: Final = JobKind(
    name="billing.deliver-invoice",
    payload=DeliverInvoicePayload,
    lease_seconds=15,
    deadline_seconds=90,
    # An outage of the mail server uses claims up while it lasts: at five minutes between tries this outlives a day.
    max_claims=300,
)

DELIVER_CREDIT_NOTE: Final = JobKind(
    name="billing.deliver-credit-note",
    payload=DeliverCreditNotePayload,
    lease_seconds=15,
    deadline_seconds=90,
    max_claims=DELIVER_INVOICE.max_claims,
)


async def enqueue_deliver_invoice(invoice_id: UUID, tx: Transaction) -> None:
    """Render and mail the invoice after `tx` commits: one job an invoice, ever."""
    await DELIVER_INVOICE.enqueue(DeliverInvoicePayload(invoice_id=invoice_id), tx, key=f"deliver:{invoice_id}")


async def enqueue_deliver_credit_note(credit_note_id: UUID, tx: Transaction) -> None:
    """Render and mail the credit note after `tx` commits: one job a credit note, ever."""
    payload = DeliverCreditNotePayload(credit_note_id=credit_note_id)
    await DELIVER_CREDIT_NOTE.enqueue(payload, tx, key=f"deliver-credit-note:{credit_note_id}")
