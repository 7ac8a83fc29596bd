"""Rendering and mailing an invoice, on a real database with a mail server in memory."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from billing_lab import PLACED, HeldFence, MemoryMailer, issued, rows

from billing_service.domain.invoices import (
    OF_INVOICES,
    DeliveryTable,
    DocumentNotReady,
    InvoiceDelivery,
    InvoiceNotFound,
    InvoiceQueries,
    MailInvoice,
    MailRefused,
    MailUnavailable,
    RenderInvoice,
)
from service_platform.database import Database, Transaction
from service_platform.jobs import JobFencedOut


class LostFence:
    """The fence of a run that was taken over."""

    async def acquire(self, tx: Transaction) -> None:
        raise JobFencedOut("planted")


class FenceLostLater:
    """The fence of a run that is taken over after its first transaction."""

    def __init__(self) -> None:
        self._held = 0

    async def acquire(self, tx: Transaction) -> None:
        self._held += 1
        if self._held > 1:
            raise JobFencedOut("planted")


def delivery(database: Database, mailer: MemoryMailer) -> InvoiceDelivery:
    return InvoiceDelivery(
        database, DeliveryTable(OF_INVOICES), mailer, seller="Fencepost", mail_domain="fencepost.example"
    )


async def rendered(database: Database, mailer: MemoryMailer) -> UUID:
    invoice = await issued(database, PLACED)
    await delivery(database, mailer).render(RenderInvoice(fence=HeldFence(), invoice_id=invoice.id))
    return invoice.id


async def test_the_pdf_is_there_once_it_is_rendered_and_not_before(billing_database: Database) -> None:
    invoice = await issued(billing_database)
    queries = InvoiceQueries(billing_database)
    with pytest.raises(DocumentNotReady):
        await queries.document(invoice.id, customer_id="ann")
    await delivery(billing_database, MemoryMailer()).render(RenderInvoice(fence=HeldFence(), invoice_id=invoice.id))
    _, pdf = await queries.document(invoice.id, customer_id="ann")
    assert pdf.startswith(b"%PDF-")
    with pytest.raises(InvoiceNotFound):
        await queries.document(invoice.id, customer_id="bob")


async def test_a_stale_run_stores_no_document(billing_database: Database) -> None:
    invoice = await issued(billing_database)
    with pytest.raises(JobFencedOut):
        await delivery(billing_database, MemoryMailer()).render(RenderInvoice(fence=LostFence(), invoice_id=invoice.id))
    assert await rows(billing_database, "SELECT 1 FROM invoice_documents") == []


async def test_a_mail_says_number_total_and_brings_the_pdf(billing_database: Database) -> None:
    mailer = MemoryMailer()
    invoice_id = await rendered(billing_database, mailer)
    await delivery(billing_database, mailer).mail(MailInvoice(fence=HeldFence(), invoice_id=invoice_id))
    (mail,) = mailer.sent
    invoice = await InvoiceQueries(billing_database).get(invoice_id, customer_id="ann")
    assert mail.to == "ann@example.com"
    assert mail.message_id == f"<invoice.{invoice_id}@fencepost.example>"
    assert mail.subject == f"Hóa đơn {invoice.number} của quý khách"
    assert "32,50\N{NO-BREAK SPACE}USD" in mail.text
    assert (mail.file_name, mail.pdf[:5]) == (f"{invoice.number}.pdf", b"%PDF-")
    assert invoice.mailed_at is not None
    assert mailer.looks == 0, "a first mail needs no look into the mailbox"


async def test_a_mail_that_was_taken_though_its_answer_was_lost_is_not_sent_again(billing_database: Database) -> None:
    mailer = MemoryMailer(failures=[(MailUnavailable("no answer"), True)])
    invoice_id = await rendered(billing_database, mailer)
    command = MailInvoice(fence=HeldFence(), invoice_id=invoice_id)
    with pytest.raises(MailUnavailable):
        await delivery(billing_database, mailer).mail(command)
    await delivery(billing_database, mailer).mail(command)
    assert (len(mailer.sent), mailer.looks) == (1, 1)
    assert (await InvoiceQueries(billing_database).get(invoice_id, customer_id=None)).mailed_at is not None


async def test_a_mail_that_was_not_taken_is_sent_by_the_next_run_under_the_same_id(billing_database: Database) -> None:
    mailer = MemoryMailer(failures=[(MailRefused("451"), False)])
    invoice_id = await rendered(billing_database, mailer)
    command = MailInvoice(fence=HeldFence(), invoice_id=invoice_id)
    with pytest.raises(MailRefused):
        await delivery(billing_database, mailer).mail(command)
    await delivery(billing_database, mailer).mail(command)
    assert (len(mailer.sent), mailer.looks) == (1, 1)


async def test_a_mailed_invoice_is_neither_looked_for_nor_sent_again(billing_database: Database) -> None:
    mailer = MemoryMailer()
    invoice_id = await rendered(billing_database, mailer)
    command = MailInvoice(fence=HeldFence(), invoice_id=invoice_id)
    for _ in range(2):
        await delivery(billing_database, mailer).mail(command)
    assert (len(mailer.sent), mailer.looks) == (1, 0)


async def test_a_stale_run_sends_nothing(billing_database: Database) -> None:
    mailer = MemoryMailer()
    invoice_id = await rendered(billing_database, mailer)
    with pytest.raises(JobFencedOut):
        await delivery(billing_database, mailer).mail(MailInvoice(fence=LostFence(), invoice_id=invoice_id))
    assert mailer.sent == []
    assert await rows(billing_database, "SELECT 1 FROM invoice_mails") == []


async def test_a_run_that_is_taken_over_while_it_sends_leaves_the_rest_to_the_next_one(
    billing_database: Database,
) -> None:
    mailer = MemoryMailer()
    invoice_id = await rendered(billing_database, mailer)
    with pytest.raises(JobFencedOut):
        await delivery(billing_database, mailer).mail(MailInvoice(fence=FenceLostLater(), invoice_id=invoice_id))
    assert (await InvoiceQueries(billing_database).get(invoice_id, customer_id=None)).mailed_at is None
    await delivery(billing_database, mailer).mail(MailInvoice(fence=HeldFence(), invoice_id=invoice_id))
    assert (len(mailer.sent), mailer.looks) == (1, 1)


async def test_an_unknown_invoice_is_refused(billing_database: Database) -> None:
    with pytest.raises(InvoiceNotFound):
        await delivery(billing_database, MemoryMailer()).render(RenderInvoice(fence=HeldFence(), invoice_id=uuid4()))
