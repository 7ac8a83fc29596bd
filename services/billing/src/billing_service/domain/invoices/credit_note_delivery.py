"""Delivering credit notes."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from .commands import MailCreditNote, RenderCreditNote
from .credit import CreditNote
from .credit_note_table import find_credit_note
from .document_delivery import DocumentDelivery
from .errors import CreditNoteNotFound
from .formats import format_day, format_money
from .messages import MESSAGES


class CreditNoteDelivery(DocumentDelivery[CreditNote]):
    """Renders and mails credit notes."""

    kind: ClassVar[str] = "credit-note"

    async def render(self, command: RenderCreditNote) -> None:
        """Make the credit note's document, unless it is made already. Raises `CreditNoteNotFound`."""
        await self._render(command.credit_note_id, command.fence)

    async def mail(self, command: MailCreditNote) -> None:
        """Send the credit note to its customer, at least once.

        Raises `CreditNoteNotFound`, `DocumentNotReady`, `MailNotSent`, `MailboxUnavailable`.
        """
        await self._mail(command.credit_note_id, command.fence)

    async def _find(self, document_id: UUID, session: AsyncSession) -> CreditNote:
        note = await find_credit_note(document_id, session)
        if note is None:
            raise CreditNoteNotFound(credit_note_id=str(document_id))
        return note

    def _draw(self, document: CreditNote) -> bytes:
        from .credit_note_pdf import render_credit_note  # noqa: PLC0415 - see `DocumentDelivery._draw`

        return render_credit_note(document, seller=self._seller)

    def _write(self, document: CreditNote) -> tuple[str, str]:
        language = document.language
        return MESSAGES.text("mail.credit_note.subject", language, number=document.number), MESSAGES.text(
            "mail.credit_note.text",
            language,
            number=document.number,
            date=format_day(document.issued_at, language),
            invoice_number=document.invoice_number,
            order_id=document.order_id,
            total=format_money(document.total_minor, document.currency, language),
            seller=self._seller,
        )
