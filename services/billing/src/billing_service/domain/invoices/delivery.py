"""Delivering invoices."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from .commands import MailInvoice, RenderInvoice
from .document_delivery import DocumentDelivery
from .errors import InvoiceNotFound
from .formats import format_day, format_money
from .invoice_table import find
from .messages import MESSAGES
from .models import Invoice


class InvoiceDelivery(DocumentDelivery[Invoice]):
    """Renders and mails invoices."""

    kind: ClassVar[str] = "invoice"

    async def render(self, command: RenderInvoice) -> None:
        """Make the invoice's document, unless it is made already. Raises `InvoiceNotFound`."""
        await self._render(command.invoice_id, command.fence)

    async def mail(self, command: MailInvoice) -> None:
        """Send the invoice to its customer, at least once.

        Raises `InvoiceNotFound`, `DocumentNotReady`, `MailNotSent`, `MailboxUnavailable`.
        """
        await self._mail(command.invoice_id, command.fence)

    async def _find(self, document_id: UUID, session: AsyncSession) -> Invoice:
        invoice = await find(document_id, session)
        if invoice is None:
            raise InvoiceNotFound(invoice_id=str(document_id))
        return invoice

    def _draw(self, document: Invoice) -> bytes:
        from .invoice_pdf import render_invoice  # noqa: PLC0415 - see `DocumentDelivery._draw`

        return render_invoice(document, seller=self._seller)

    def _write(self, document: Invoice) -> tuple[str, str]:
        language = document.language
        return MESSAGES.text("mail.subject", language, number=document.number), MESSAGES.text(
            "mail.text",
            language,
            number=document.number,
            date=format_day(document.issued_at, language),
            order_id=document.order_id,
            total=format_money(document.total_minor, document.currency, language),
            seller=self._seller,
        )
