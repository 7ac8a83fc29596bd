"""Mails against documents: one mail each, to the right customer, with the right amount and the PDF in it."""

import re
from collections.abc import Collection, Iterator, Mapping
from operator import attrgetter

from demo.agreement import exactly_one, grouped
from demo.amounts import dollars, names_amount
from demo.disagreement import Disagreement, Kind
from demo.records import CreditNoteRecord, InvoiceRecord, MailRecord, OrderRecord, Records


def judge_mails(records: Records, orders: Mapping[str, OrderRecord]) -> Iterator[Disagreement]:
    """Judges the mails of the invoices and credit notes of `orders`, this run's orders by id."""
    everything: tuple[InvoiceRecord | CreditNoteRecord, ...] = (*records.invoices, *records.credit_notes)
    documents = [document for document in everything if document.order_id in orders]
    numbers = {document.number for document in documents}
    by_number = grouped(records.mails, lambda mail: _number_named(mail, numbers))
    for document in documents:
        mails = by_number[document.number]
        subject = _name(document)
        yield from exactly_one(mails, subject, Kind.MAIL_MISSING, Kind.MAIL_DOUBLE, attrgetter("message_id"))
        recipient = records.run.address_of(orders[document.order_id].customer_id)
        for mail in mails:
            yield from _judge_mail(mail, document, recipient)
    for mail in by_number[None]:
        if any(records.run.owns_address(address) for address in mail.to):
            yield Disagreement(
                Kind.MAIL_UNKNOWN, f"mail {mail.message_id}", "the number of a document in its subject", mail.subject
            )
    for message_id, sharing in grouped(records.mails, attrgetter("message_id")).items():
        named = {number for mail in sharing if (number := _number_named(mail, numbers)) is not None}
        if len(named) > 1:
            yield Disagreement(
                Kind.MESSAGE_ID_SHARED, f"Message-ID {message_id}", "one document", ", ".join(sorted(named))
            )


def _judge_mail(mail: MailRecord, document: InvoiceRecord | CreditNoteRecord, recipient: str) -> Iterator[Disagreement]:
    subject = f"mail {mail.message_id} of {_name(document)}"
    if mail.to != (recipient,):
        yield Disagreement(Kind.MAIL_RECIPIENT, subject, recipient, ", ".join(mail.to))
    if not names_amount(mail.text, document.total_minor):
        amounts = ", ".join(re.findall(r"\d[\d,]*\.\d{2}", mail.text)) or "no amount"
        yield Disagreement(Kind.MAIL_AMOUNT, subject, f"{dollars(document.total_minor)} in its text", amounts)
    pdfs = [part for part in mail.attachments if part.content_type == "application/pdf" and part.size > 0]
    if len(pdfs) != 1 or document.number not in pdfs[0].file_name:
        attached = ", ".join(f"{part.file_name} ({part.content_type}, {part.size} bytes)" for part in mail.attachments)
        yield Disagreement(
            Kind.MAIL_PDF, subject, f"the PDF {document.number} attached", attached or "nothing attached"
        )


def _name(document: InvoiceRecord | CreditNoteRecord) -> str:
    kind = "invoice" if isinstance(document, InvoiceRecord) else "credit note"
    return f"{kind} {document.number} of order {document.order_id}"


def _number_named(mail: MailRecord, numbers: Collection[str]) -> str | None:
    words = re.findall(r"[\w-]+", mail.subject)
    return next((word for word in words if word in numbers), None)
