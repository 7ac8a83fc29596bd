"""Delivering an issued invoice: its document, then its mail. No transaction is open while either is made or sent."""

from __future__ import annotations

import asyncio
from uuid import UUID

from service_platform.database import Database

from .commands import MailInvoice, RenderInvoice
from .delivery_table import DeliveryTable, find_document
from .errors import DocumentNotReady, InvoiceNotFound
from .formats import format_day, format_money
from .invoice_table import find
from .mailer import Mail, Mailer
from .messages import MESSAGES
from .models import Invoice


class InvoiceDelivery:
    """Renders and mails invoices.

    `seller` is the name that signs them. `mail_domain` is the right side of their Message-IDs.
    """

    def __init__(
        self, database: Database, deliveries: DeliveryTable, mailer: Mailer, *, seller: str, mail_domain: str
    ) -> None:
        self._database = database
        self._deliveries = deliveries
        self._mailer = mailer
        self._seller = seller
        self._mail_domain = mail_domain

    def prepare(self) -> None:
        """Load what rendering needs, which takes a second once a process. What it forks afterwards has it too."""
        from .pdf import prepare_rendering  # noqa: PLC0415 - see `render`

        prepare_rendering()

    async def render(self, command: RenderInvoice) -> None:
        """Make the invoice's document, unless it is made already. Raises `InvoiceNotFound`."""
        # Here, as the libraries behind it would make a quarter of the start of each process that never renders.
        from .pdf import render_pdf  # noqa: PLC0415

        invoice, pdf = await self._load(command.invoice_id)
        if pdf is None:
            # In a thread, so that a long invoice does not hold up the loop.
            pdf = await asyncio.to_thread(render_pdf, invoice, seller=self._seller)
        async with self._database.transaction(claim=command.fence) as tx:
            await self._deliveries.keep_document(invoice.id, pdf, tx)

    async def mail(self, command: MailInvoice) -> None:
        """Send the invoice to its customer.

        The intent is recorded first. Where an earlier run recorded one, that run may have sent the mail and died, so
        the mailbox is looked into before anything is sent again. What the mailbox cannot show (a mail still on its
        way, a mail server without such an API) is sent again, under the same Message-ID: mail is at least once.

        Raises `InvoiceNotFound`, `DocumentNotReady`, `MailNotSent`, `MailboxUnavailable`.
        """
        invoice, pdf = await self._load(command.invoice_id)
        if pdf is None:
            raise DocumentNotReady(number=invoice.number)
        async with self._database.transaction(claim=command.fence) as tx:
            intent = await self._deliveries.intend_mail(invoice.id, self._message_id(invoice.id), tx)
        if intent.mailed:
            return
        taken = intent.times > 1 and await self._mailer.took(intent.message_id)
        if not taken:
            await self._mailer.send(self._mail(invoice, pdf, intent.message_id))
        async with self._database.transaction(claim=command.fence) as tx:
            await self._deliveries.mark_mailed(invoice.id, tx)

    async def _load(self, invoice_id: UUID) -> tuple[Invoice, bytes | None]:
        async with self._database.read() as session:
            invoice = await find(invoice_id, session)
            if invoice is None:
                raise InvoiceNotFound(invoice_id=str(invoice_id))
            return invoice, await find_document(invoice_id, session)

    def _mail(self, invoice: Invoice, pdf: bytes, message_id: str) -> Mail:
        language = invoice.language
        return Mail(
            message_id=message_id,
            to=invoice.customer_email,
            subject=MESSAGES.text("mail.subject", language, number=invoice.number),
            text=MESSAGES.text(
                "mail.text",
                language,
                number=invoice.number,
                date=format_day(invoice.issued_at, language),
                order_id=invoice.order_id,
                total=format_money(invoice.total_minor, invoice.currency, language),
                seller=self._seller,
            ),
            file_name=f"{invoice.number}.pdf",
            pdf=pdf,
        )

    def _message_id(self, invoice_id: UUID) -> str:
        return f"<invoice.{invoice_id}@{self._mail_domain}>"
