"""Mails against invoices: one mail each, to the right customer, with the right amount and the PDF in it."""

import re
from collections.abc import Collection, Iterator, Mapping
from operator import attrgetter

from demo.agreement import exactly_one, grouped
from demo.amounts import dollars, names_amount
from demo.disagreement import Disagreement, Kind
from demo.records import InvoiceRecord, MailRecord, OrderRecord, Records


def judge_mails(records: Records, orders: Mapping[str, OrderRecord]) -> Iterator[Disagreement]:
    """Judges the mails of the invoices of `orders`, this run's orders by id."""
    invoices = [invoice for invoice in records.invoices if invoice.order_id in orders]
    numbers = {invoice.number for invoice in invoices}
    by_number = grouped(records.mails, lambda mail: _invoice_named(mail, numbers))
    for invoice in invoices:
        mails = by_number[invoice.number]
        subject = f"invoice {invoice.number}"
        yield from exactly_one(mails, subject, Kind.MAIL_MISSING, Kind.MAIL_DOUBLE, attrgetter("message_id"))
        recipient = records.run.address_of(orders[invoice.order_id].customer_id)
        for mail in mails:
            yield from _judge_mail(mail, invoice, recipient)
    for mail in by_number[None]:
        if any(records.run.owns_address(address) for address in mail.to):
            yield Disagreement(
                Kind.MAIL_UNKNOWN, f"mail {mail.message_id}", "the number of an invoice in its subject", mail.subject
            )
    for message_id, sharing in grouped(records.mails, attrgetter("message_id")).items():
        named = {number for mail in sharing if (number := _invoice_named(mail, numbers)) is not None}
        if len(named) > 1:
            yield Disagreement(
                Kind.MESSAGE_ID_SHARED, f"Message-ID {message_id}", "one invoice", ", ".join(sorted(named))
            )


def _judge_mail(mail: MailRecord, invoice: InvoiceRecord, recipient: str) -> Iterator[Disagreement]:
    subject = f"mail {mail.message_id} of invoice {invoice.number}"
    if mail.to != (recipient,):
        yield Disagreement(Kind.MAIL_RECIPIENT, subject, recipient, ", ".join(mail.to))
    if not names_amount(mail.text, invoice.total_minor):
        amounts = ", ".join(re.findall(r"\d[\d,]*\.\d{2}", mail.text)) or "no amount"
        yield Disagreement(Kind.MAIL_AMOUNT, subject, f"{dollars(invoice.total_minor)} in its text", amounts)
    pdfs = [part for part in mail.attachments if part.content_type == "application/pdf" and part.size > 0]
    if len(pdfs) != 1 or invoice.number not in pdfs[0].file_name:
        attached = ", ".join(f"{part.file_name} ({part.content_type}, {part.size} bytes)" for part in mail.attachments)
        yield Disagreement(Kind.MAIL_PDF, subject, f"the PDF {invoice.number} attached", attached or "nothing attached")


def _invoice_named(mail: MailRecord, numbers: Collection[str]) -> str | None:
    words = re.findall(r"[\w-]+", mail.subject)
    return next((word for word in words if word in numbers), None)
