"""Reading credit notes."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Response

from billing_service.domain.invoices import CreditNoteNotFound, CreditNoteQueries, CreditNoteView, DocumentNotReady
from service_platform.http import PageWanted, Principal, problems_of, require
from service_platform.pagination import Page, Position

from .pdf import PdfResponse

_READ_ALL = "invoices:read_all"

Reader = Annotated[Principal, require("invoices:read")]


def credit_notes_router(notes: CreditNoteQueries) -> APIRouter:
    """`GET /credit-notes`, `GET /credit-notes/{id}`, `GET /credit-notes/{id}/pdf` (invoices:read).

    A customer is the token's subject and sees their own; with invoices:read_all one sees everybody's.
    """
    router = APIRouter(prefix="/credit-notes", tags=["credit notes"])

    @router.get("")
    async def list_credit_notes(page: PageWanted, reader: Reader) -> Page[CreditNoteView]:
        rows = await notes.newest(customer_id=_whose(reader), before=page.after, limit=page.rows_to_read)
        return Page[CreditNoteView].of(
            rows, page, item=lambda row: row, position=lambda row: Position(row.issued_at, row.id)
        )

    @router.get("/{credit_note_id}", responses=problems_of(CreditNoteNotFound))
    async def get_credit_note(credit_note_id: UUID, reader: Reader) -> CreditNoteView:
        return await notes.get(credit_note_id, customer_id=_whose(reader))

    @router.get(
        "/{credit_note_id}/pdf",
        response_class=PdfResponse,
        responses=problems_of(CreditNoteNotFound, DocumentNotReady),
    )
    async def get_credit_note_pdf(credit_note_id: UUID, reader: Reader) -> Response:
        note, pdf = await notes.document(credit_note_id, customer_id=_whose(reader))
        return PdfResponse.named(note.number, pdf)

    return router


def _whose(reader: Principal) -> str | None:
    """Whose credit notes the caller may see; None means everybody's."""
    return None if reader.may(_READ_ALL) else reader.subject
