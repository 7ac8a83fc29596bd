"""Two workers that deliver documents, on a real database and on the mail catcher in this process, by real SMTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from email.headerregistry import Address
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
from billing_lab import issued, record_refund
from fastapi import FastAPI

from billing_service.bootstrap import invoice_service
from billing_service.domain.invoices import (
    OF_CREDIT_NOTES,
    OF_INVOICES,
    CreditNoteDelivery,
    DeliveryTable,
    InvoiceDelivery,
    MailboxUnavailable,
    MailUnavailable,
)
from billing_service.integrations import SmtpMailer
from billing_service.jobs import DeliverCreditNote, DeliverInvoice
from mail_catcher.api import api_router
from mail_catcher.faults import FaultRule, Faults
from mail_catcher.mailbox import Mailbox
from mail_catcher.receiver import Receiver
from service_platform.database import Database, DatabaseAddress
from service_platform.jobs import FencedProcessor
from world.crash_workers import CrashWorkers
from world.crashing import Run, Watched

SENDER = Address("Fencepost", addr_spec="billing@fencepost.example")
PDF = b"%PDF-1.4\nof a test that is not about drawing\n"


class MailRun(Run):
    """A run that learns of no answer what it learns of a lost one: of a mail, or of a look into the mailbox."""

    def answer_lost(self, boundary: str) -> Exception:
        kind = MailboxUnavailable if boundary.startswith("took") else MailUnavailable
        return kind(f"the answer was lost: {boundary}")


class Catcher:
    """The mail catcher without a process: its SMTP side on a port of its own, its API without a network."""

    def __init__(self, folder: Path) -> None:
        self.mailbox = Mailbox(folder)
        self.faults = Faults()
        self._receiver = Receiver(self.mailbox, self.faults)
        self._app = FastAPI()
        self._app.include_router(api_router(self.mailbox))
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._receiver.protocol, "127.0.0.1", 0)

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        self.mailbox.close()

    def mailer(self) -> SmtpMailer:
        """A client of its own, of both sides."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        mailer = SmtpMailer(host="127.0.0.1", port=port, sender=SENDER, mailbox_url=None)
        mailer._mailbox = httpx.AsyncClient(transport=httpx.ASGITransport(self._app), base_url="http://mailbox")
        return mailer

    def message_ids(self, document_id: UUID) -> list[str]:
        """The Message-IDs of the mails about a document."""
        return [mail["MessageID"] for mail in self.mailbox.summaries(0, 100, [("message_id", str(document_id))])]

    def meets(self, outcome: Any, **rule: Any) -> None:
        """The next mail meets with this."""
        self.faults.add(FaultRule(outcome=outcome, **rule))


class MailCrashLab(CrashWorkers):
    """Issues documents and delivers them."""

    def __init__(
        self,
        app: DatabaseAddress,
        owner: asyncpg.Connection[Any],
        watcher: asyncpg.Connection[Any],
        catcher: Catcher,
    ) -> None:
        self.catcher = catcher
        self._mailers = [catcher.mailer() for _ in range(2)]

        def processors(database: Database, worker: int) -> Sequence[FencedProcessor[Any]]:
            mailer: Any = Watched(self._mailers[worker])
            named = {"seller": "Fencepost", "mail_domain": "fencepost.example"}
            return [
                DeliverInvoice(InvoiceDelivery(database, DeliveryTable(OF_INVOICES), mailer, **named)),
                DeliverCreditNote(CreditNoteDelivery(database, DeliveryTable(OF_CREDIT_NOTES), mailer, **named)),
            ]

        super().__init__(app, owner, watcher, processors)

    async def close(self) -> None:
        await super().close()
        for mailer in self._mailers:
            await mailer.close()
        await self.catcher.close()

    async def invoice(self) -> tuple[UUID, UUID]:
        """A new invoice and its job."""
        invoice = await issued(self.calm)
        return invoice.id, await self._job(invoice.id)

    async def credit_note(self) -> tuple[UUID, UUID]:
        """A new credit note and its job."""
        invoice = await issued(self.calm)
        refund = record_refund(invoice.order_id)
        await invoice_service(self.calm).record_refund(refund)
        note_id: UUID = await self.value("SELECT id FROM credit_notes WHERE refund_id = $1", refund.refund.refund_id)
        return note_id, await self._job(note_id)

    async def _job(self, document_id: UUID) -> UUID:
        job_id: UUID = await self.value("SELECT id FROM job WHERE job_key LIKE '%' || $1::text", str(document_id))
        return job_id
