"""Rendering and mailing a credit note, on a real database with a mail server in memory.

How a mail survives crashes is told of invoices in `test_invoice_delivery.py`: both are delivered by the same code.
"""

from __future__ import annotations

from uuid import uuid4

import pytest
from billing_lab import HeldFence, MemoryMailer, all_credit_notes, issued, record_refund, rows

from billing_service.bootstrap import invoice_service
from billing_service.domain.invoices import (
    OF_CREDIT_NOTES,
    CreditNoteDelivery,
    CreditNoteNotFound,
    CreditNoteQueries,
    CreditNoteView,
    DeliveryTable,
    DocumentNotReady,
    MailCreditNote,
    MailUnavailable,
    RenderCreditNote,
)
from service_platform.database import Database


def delivery(database: Database, mailer: MemoryMailer) -> CreditNoteDelivery:
    tables = DeliveryTable(OF_CREDIT_NOTES)
    return CreditNoteDelivery(database, tables, mailer, seller="Fencepost", mail_domain="fencepost.example")


async def credited(database: Database) -> CreditNoteView:
    invoice = await issued(database)
    await invoice_service(database).record_refund(record_refund(invoice.order_id, 1_300))
    (note,) = await all_credit_notes(database)
    return note


async def test_a_credit_note_is_rendered_then_mailed_and_shown_to_its_customer_only(
    billing_database: Database,
) -> None:
    note = await credited(billing_database)
    mailer, queries = MemoryMailer(), CreditNoteQueries(billing_database)
    deliver = delivery(billing_database, mailer)
    with pytest.raises(DocumentNotReady):
        await queries.document(note.id, customer_id="ann")
    with pytest.raises(DocumentNotReady):
        await deliver.mail(MailCreditNote(fence=HeldFence(), credit_note_id=note.id))
    await deliver.render(RenderCreditNote(fence=HeldFence(), credit_note_id=note.id))
    _, pdf = await queries.document(note.id, customer_id="ann")
    with pytest.raises(CreditNoteNotFound):
        await queries.document(note.id, customer_id="bob")
    for _ in range(2):
        await deliver.mail(MailCreditNote(fence=HeldFence(), credit_note_id=note.id))
    (mail,) = mailer.sent
    assert (mail.to, mail.pdf, mail.file_name) == ("ann@example.com", pdf, f"{note.number}.pdf")
    assert mail.message_id == f"<credit-note.{note.id}@fencepost.example>"
    assert mail.subject == f"Giấy ghi có {note.number} của quý khách"
    assert "13,00\N{NO-BREAK SPACE}USD" in mail.text
    assert note.invoice_number in mail.text
    assert (await queries.get(note.id, customer_id="ann")).mailed_at is not None


async def test_the_documents_and_mails_of_invoices_and_credit_notes_are_kept_apart(billing_database: Database) -> None:
    note = await credited(billing_database)
    mailer = MemoryMailer(failures=[(MailUnavailable("no answer"), True)])
    deliver = delivery(billing_database, mailer)
    await deliver.render(RenderCreditNote(fence=HeldFence(), credit_note_id=note.id))
    with pytest.raises(MailUnavailable):
        await deliver.mail(MailCreditNote(fence=HeldFence(), credit_note_id=note.id))
    await deliver.mail(MailCreditNote(fence=HeldFence(), credit_note_id=note.id))
    assert (len(mailer.sent), mailer.looks) == (1, 1)
    assert await rows(billing_database, "SELECT credit_note_id, intents FROM credit_note_mails") == [(note.id, 2)]
    for table in ("invoice_documents", "invoice_mails"):
        assert await rows(billing_database, f"SELECT 1 FROM {table}") == []


async def test_an_unknown_credit_note_is_refused(billing_database: Database) -> None:
    command = RenderCreditNote(fence=HeldFence(), credit_note_id=uuid4())
    with pytest.raises(CreditNoteNotFound):
        await delivery(billing_database, MemoryMailer()).render(command)
