"""Reading invoices."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Response

from billing_service.domain.invoices import DocumentNotReady, InvoiceNotFound, InvoiceQueries, InvoiceView
from service_platform.http import PageWanted, Principal, problems_of, require
from service_platform.pagination import Page, Position

from .pdf import PdfResponse

_READ_ALL = "invoices:read_all"

Reader = Annotated[Principal, require("invoices:read")]


def invoices_router(invoices: InvoiceQueries) -> APIRouter:
    """`GET /invoices`, `GET /invoices/{id}`, `GET /invoices/{id}/pdf` (invoices:read).

    A customer is the token's subject and sees their own invoices; with invoices:read_all one sees everybody's.
    """
    router = APIRouter(prefix="/invoices", tags=["invoices"])

    @router.get("")
    async def list_invoices(page: PageWanted, reader: Reader) -> Page[InvoiceView]:
        rows = await invoices.newest(customer_id=_whose(reader), before=page.after, limit=page.rows_to_read)
        return Page[InvoiceView].of(
            rows, page, item=lambda row: row, position=lambda row: Position(row.issued_at, row.id)
        )

    @router.get("/{invoice_id}", responses=problems_of(InvoiceNotFound))
    async def get_invoice(invoice_id: UUID, reader: Reader) -> InvoiceView:
        return await invoices.get(invoice_id, customer_id=_whose(reader))

    @router.get(
        "/{invoice_id}/pdf",
        response_class=PdfResponse,
        responses=problems_of(InvoiceNotFound, DocumentNotReady),
    )
    async def get_invoice_pdf(invoice_id: UUID, reader: Reader) -> Response:
        invoice, pdf = await invoices.document(invoice_id, customer_id=_whose(reader))
        return PdfResponse.named(invoice.number, pdf)

    return router


def _whose(reader: Principal) -> str | None:
    """Whose invoices the caller may see; None means everybody's."""
    return None if reader.may(_READ_ALL) else reader.subject
