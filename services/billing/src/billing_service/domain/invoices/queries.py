"""What can be read about invoices and credit notes. Queries write nothing and publish nothing."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from service_platform.database import Database

from .credit_note_table import find_credit_note, newest_credit_notes
from .delivery_table import DeliveryTable
from .errors import CreditNoteNotFound, DocumentNotReady, InvoiceNotFound
from .invoice_table import find, newest
from .tables import OF_CREDIT_NOTES, OF_INVOICES
from .views import CreditNoteView, InvoiceView


class InvoiceQueries:
    """Reads invoices: one customer's, or with `customer_id` None everybody's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, invoice_id: UUID, *, customer_id: str | None) -> InvoiceView:
        """One invoice. Raises `InvoiceNotFound`, also for an invoice of somebody else."""
        async with self._database.read() as session:
            invoice = await find(invoice_id, session)
        if invoice is None or customer_id not in {None, invoice.customer_id}:
            raise InvoiceNotFound(invoice_id=str(invoice_id))
        return InvoiceView.of(invoice)

    async def document(self, invoice_id: UUID, *, customer_id: str | None) -> tuple[InvoiceView, bytes]:
        """One invoice and its PDF. Raises `InvoiceNotFound`, and `DocumentNotReady` while the PDF is being made."""
        invoice = await self.get(invoice_id, customer_id=customer_id)
        async with self._database.read() as session:
            pdf = await DeliveryTable(OF_INVOICES).find_document(invoice_id, session)
        if pdf is None:
            raise DocumentNotReady(number=invoice.number)
        return invoice, pdf

    async def newest(
        self, *, customer_id: str | None, before: tuple[datetime, UUID] | None, limit: int
    ) -> list[InvoiceView]:
        """Up to `limit` invoices, newest first, from before the position (issued at, id)."""
        async with self._database.read() as session:
            invoices = await newest(customer_id=customer_id, before=before, limit=limit, session=session)
        return [InvoiceView.of(invoice) for invoice in invoices]


class CreditNoteQueries:
    """Reads credit notes: one customer's, or with `customer_id` None everybody's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, credit_note_id: UUID, *, customer_id: str | None) -> CreditNoteView:
        """One credit note. Raises `CreditNoteNotFound`, also for a credit note of somebody else."""
        async with self._database.read() as session:
            note = await find_credit_note(credit_note_id, session)
        if note is None or customer_id not in {None, note.customer_id}:
            raise CreditNoteNotFound(credit_note_id=str(credit_note_id))
        return CreditNoteView.model_validate(note)

    async def document(self, credit_note_id: UUID, *, customer_id: str | None) -> tuple[CreditNoteView, bytes]:
        """One credit note and its PDF. Raises `CreditNoteNotFound`, and `DocumentNotReady` while it is being made."""
        note = await self.get(credit_note_id, customer_id=customer_id)
        async with self._database.read() as session:
            pdf = await DeliveryTable(OF_CREDIT_NOTES).find_document(credit_note_id, session)
        if pdf is None:
            raise DocumentNotReady(number=note.number)
        return note, pdf

    async def newest(
        self, *, customer_id: str | None, before: tuple[datetime, UUID] | None, limit: int
    ) -> list[CreditNoteView]:
        """Up to `limit` credit notes, newest first, from before the position (issued at, id)."""
        async with self._database.read() as session:
            notes = await newest_credit_notes(customer_id=customer_id, before=before, limit=limit, session=session)
        return [CreditNoteView.model_validate(note) for note in notes]
