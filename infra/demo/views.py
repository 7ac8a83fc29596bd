"""From the JSON of the public APIs to records. A missing field is a broken contract, and the `KeyError` names it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from demo.records import (
    Attachment,
    CallRecord,
    CreditNoteRecord,
    InvoiceRecord,
    MailRecord,
    MoveRecord,
    OrderRecord,
    PaymentRecord,
)

View = Mapping[str, Any]


def order(view: View) -> OrderRecord:
    return OrderRecord(
        id=view["id"],
        customer_id=view["customer_id"],
        status=view["status"],
        currency=view["currency"],
        total_minor=view["total_minor"],
        invoice_number=view["invoice_number"],
        skus=tuple(line["sku"] for line in view["lines"]),
        refunded_minor=view["refunded_minor"],
        credit_note_numbers=tuple(view["credit_note_numbers"]),
        timeline=tuple(map(_entry, view["timeline"])),
    )


def _entry(view: View) -> str:
    return " ".join([view["event"], *(f"{name}={value}" for name, value in sorted(view["detail"].items()))])


def payment(view: View) -> PaymentRecord:
    return PaymentRecord(
        id=view["id"],
        order_id=view["order_id"],
        status=view["status"],
        currency=view["currency"],
        amount_minor=view["amount_minor"],
        intent=view["provider_reference"],
    )


def invoice(view: View) -> InvoiceRecord:
    return InvoiceRecord(
        id=view["id"],
        number=view["number"],
        order_id=view["order_id"],
        currency=view["currency"],
        total_minor=view["total_minor"],
        issued_at=moment(view["issued_at"]),
        mailed_at=moment(view["mailed_at"]) if view["mailed_at"] else None,
    )


def credit_note(view: View) -> CreditNoteRecord:
    return CreditNoteRecord(
        id=view["id"],
        number=view["number"],
        invoice_number=view["invoice_number"],
        order_id=view["order_id"],
        currency=view["currency"],
        total_minor=view["total_minor"],
        mailed_at=moment(view["mailed_at"]) if view["mailed_at"] else None,
    )


def call(view: View) -> CallRecord:
    return CallRecord(
        seq=view["seq"], operation=view["operation"], payment_id=view["payment_id"], order_id=view["order_id"]
    )


def move(view: View) -> MoveRecord:
    return MoveRecord(
        seq=view["seq"],
        kind=view["kind"],
        at=datetime.fromtimestamp(view["at"], UTC),
        intent=view["intent"],
        payment_id=view["payment_id"],
        order_id=view["order_id"],
        currency=view["currency"],
        amount_minor=view["amount"],
    )


def mail(summary: View, message: View) -> MailRecord:
    """From the mailbox's list entry, which knows when the mail came, and the message itself."""
    return MailRecord(
        id=summary["ID"],
        message_id=message["MessageID"],
        to=recipients(message),
        subject=message["Subject"],
        text=message["Text"],
        attachments=tuple(
            Attachment(part["FileName"], part["ContentType"], part["Size"]) for part in message["Attachments"]
        ),
        received_at=moment(summary["Created"]),
    )


def recipients(message: View) -> tuple[str, ...]:
    return tuple(to["Address"] for to in message["To"] or ())


def moment(text: str) -> datetime:
    """An RFC 3339 time; raises `ValueError` for one without an offset, which could be any time."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text} has no UTC offset")
    return at
