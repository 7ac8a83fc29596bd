"""What can be read about invoices. Queries write nothing and publish nothing."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from service_platform.database import Database

from .delivery_table import find_document
from .errors import DocumentNotReady, InvoiceNotFound
from .invoice_table import find, newest
from .views import InvoiceView


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
            pdf = await find_document(invoice_id, session)
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
