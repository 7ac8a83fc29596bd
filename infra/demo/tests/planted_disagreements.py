"""Every disagreement there can be: how it is planted, which kinds the judge has to find, and what it has to name."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from demo.disagreement import Kind
from demo.records import Attachment, CallRecord, CreditNoteRecord, Records
from demo.tests.agreeing_records import number_of


def changed(field: str, index: int, **values: Any) -> Callable[[Records], Records]:
    """A fault: the record of that index has other values."""

    def plant(records: Records) -> Records:
        rows = list(getattr(records, field))
        rows[index] = replace(rows[index], **values)
        return with_rows(records, field, rows)

    return plant


def without(field: str, index: int) -> Callable[[Records], Records]:
    """A fault: the record of that index is not there."""

    def plant(records: Records) -> Records:
        rows = list(getattr(records, field))
        del rows[index]
        return with_rows(records, field, rows)

    return plant


def twice(field: str, index: int, **values: Any) -> Callable[[Records], Records]:
    """A fault: the record of that index stands a second time, with these other values."""

    def plant(records: Records) -> Records:
        rows: Sequence[Any] = getattr(records, field)
        return with_rows(records, field, [*rows, replace(rows[index], **values)])

    return plant


def with_rows(records: Records, field: str, rows: Sequence[Any]) -> Records:
    values: dict[str, Any] = {field: rows}
    return replace(records, **values)


def with_a_call(records: Records) -> Records:
    """A fault: the free order's payment was taken to the provider, whatever came of it."""
    return replace(records, calls=[*records.calls, CallRecord(99, "payment_intents.create", "p3", None)])


def with_a_credit_note(records: Records) -> Records:
    """A fault: a paid order's invoice was credited."""
    return replace(
        records, credit_notes=[CreditNoteRecord("c1", "CN-2026-000001", number_of(1), "o1", "USD", 2933, None)]
    )


PLANTED: list[tuple[str, Callable[[Records], Records], set[Kind], tuple[str, ...]]] = [
    ("no answer", without("answers", 0), {Kind.ANSWER_MISSING}, ("line 1",)),
    (
        "a refusal",
        changed("answers", 0, order_id=None, refusal="422 no such currency"),
        {Kind.ANSWER_MISSING},
        ("line 1", "422 no such currency"),
    ),
    ("an answer of no order", changed("answers", 0, order_id="gone"), {Kind.ANSWER_DIFFERS}, ("line 1", "gone")),
    ("an answer of another order", changed("answers", 0, order_id="o2"), {Kind.ANSWER_DIFFERS}, ("o2", "line 1")),
    (
        "an order lost",
        without("orders", 0),
        {Kind.ANSWER_DIFFERS, Kind.ORDER_MISSING, Kind.MAIL_UNKNOWN},
        ("purchase of line 1 (2 CDs, 29.33)",),
    ),
    (
        "an order doubled",
        twice("orders", 0, id="o1b"),
        {Kind.ORDER_DOUBLE, Kind.PAYMENT_MISSING, Kind.CAPTURE_MISSING, Kind.INVOICE_MISSING},
        ("o1", "o1b"),
    ),
    (
        "an order of no purchase",
        changed("orders", 0, skus=("CDNOW-06000-1",)),
        {Kind.ANSWER_DIFFERS, Kind.ORDER_UNKNOWN, Kind.ORDER_MISSING},
        ("o1", "CDNOW-06000-1"),
    ),
    (
        "an order of two purchases",
        changed("orders", 0, skus=("CDNOW-00001-1", "CDNOW-00002-2")),
        {Kind.ANSWER_DIFFERS, Kind.ORDER_UNKNOWN, Kind.ORDER_MISSING},
        ("o1",),
    ),
    (
        "another customer's order",
        changed("orders", 0, customer_id="cdnow.planted.77777"),
        {Kind.ORDER_CUSTOMER, Kind.MAIL_RECIPIENT},
        ("o1", "cdnow.planted.00004", "cdnow.planted.77777"),
    ),
    (
        "an order one cent off",
        changed("orders", 0, total_minor=2934),
        {Kind.ORDER_AMOUNT, Kind.PAYMENT_AMOUNT, Kind.CAPTURE_AMOUNT, Kind.INVOICE_AMOUNT},
        ("o1", "29.33", "29.34"),
    ),
    (
        "an order in euros",
        changed("orders", 0, currency="EUR"),
        {Kind.ORDER_AMOUNT},
        ("29.33 USD", "29.33 EUR"),
    ),
    ("an order unpaid", changed("orders", 0, status="pending_payment"), {Kind.ORDER_STATUS}, ("o1", "paid")),
    (
        "an order with another number",
        changed("orders", 0, invoice_number=number_of(2)),
        {Kind.ORDER_INVOICE_NUMBER},
        ("o1", number_of(1), number_of(2)),
    ),
    (
        "an event that took effect on an order twice",
        changed("orders", 0, timeline=("order.placed", "invoice.issued invoice_id=i1", "invoice.issued invoice_id=i1")),
        {Kind.ORDER_TOLD_TWICE},
        ("o1", "invoice.issued invoice_id=i1"),
    ),
    ("a payment lost", without("payments", 0), {Kind.PAYMENT_MISSING}, ("o1",)),
    ("a payment doubled", twice("payments", 0, id="p1b"), {Kind.PAYMENT_DOUBLE}, ("o1", "p1", "p1b")),
    ("a payment one cent off", changed("payments", 0, amount_minor=2932), {Kind.PAYMENT_AMOUNT}, ("p1", "29.32")),
    ("a payment in yen", changed("payments", 0, currency="JPY"), {Kind.PAYMENT_AMOUNT}, ("p1", "JPY")),
    ("a payment open", changed("payments", 0, status="confirming"), {Kind.PAYMENT_STATUS}, ("p1", "confirming")),
    ("a capture lost", without("moves", 0), {Kind.CAPTURE_MISSING}, ("o1",)),
    (
        "a capture doubled",
        twice("moves", 0, intent="pi_b"),
        {Kind.CAPTURE_DOUBLE, Kind.CAPTURE_REFERENCE},
        ("o1", "pi_1", "pi_b"),
    ),
    ("a capture one cent off", changed("moves", 0, amount_minor=2932), {Kind.CAPTURE_AMOUNT}, ("pi_1", "29.32")),
    (
        "a capture of an intent that the payment does not know",
        changed("moves", 0, intent="pi_b"),
        {Kind.CAPTURE_REFERENCE},
        ("p1", "pi_1", "pi_b"),
    ),
    ("a capture given back", twice("moves", 0, kind="refund"), {Kind.CAPTURE_REFUNDED}, ("o1", "pi_1", "2933")),
    (
        "a capture that names no order",
        changed("moves", 0, order_id=None, payment_id="unknown"),
        {Kind.CAPTURE_MISSING},
        ("o1",),
    ),
    ("a call for a free order", with_a_call, {Kind.FREE_ORDER_CALLED}, ("o3", "payment_intents.create (call 99)")),
    (
        "an invoice lost",
        without("invoices", 0),
        {Kind.INVOICE_MISSING, Kind.NUMBER_GAP, Kind.MAIL_UNKNOWN},
        ("o1", "1 after 0"),
    ),
    (
        "an invoice doubled",
        twice("invoices", 0, id="i1b", number=number_of(5)),
        {Kind.INVOICE_DOUBLE, Kind.ORDER_INVOICE_NUMBER, Kind.MAIL_MISSING},
        ("o1", number_of(1), number_of(5)),
    ),
    (
        "an invoice one cent off",
        changed("invoices", 0, total_minor=2934),
        {Kind.INVOICE_AMOUNT, Kind.MAIL_AMOUNT},
        (number_of(1), "29.34"),
    ),
    (
        "a number given twice",
        changed("invoices", 3, number=number_of(3)),
        {Kind.NUMBER_DOUBLE},
        (number_of(3), "2 documents"),
    ),
    ("a gap", changed("invoices", 3, number=number_of(5)), {Kind.NUMBER_GAP}, ("INV-2026-", "4 after 3", "5")),
    ("no number at all", changed("invoices", 3, number="draft"), {Kind.NUMBER_UNREADABLE}, ("draft",)),
    (
        "a paid order credited",
        with_a_credit_note,
        {Kind.CREDIT_NOTE_UNFOUNDED, Kind.MAIL_MISSING},
        ("o1", "CN-2026-000001"),
    ),
    ("a mail lost", without("mails", 0), {Kind.MAIL_MISSING}, (number_of(1),)),
    ("a mail sent twice", twice("mails", 0, id="m1b"), {Kind.MAIL_DOUBLE}, (number_of(1), "i1@shop.example")),
    (
        "a mail of no invoice",
        twice("mails", 0, id="m1b", message_id="x@shop.example", subject="Your order"),
        {Kind.MAIL_UNKNOWN},
        ("x@shop.example", "Your order"),
    ),
    (
        "a mail to another",
        changed("mails", 0, to=("other@example.com",)),
        {Kind.MAIL_RECIPIENT},
        ("cdnow.planted.00004@example.com", "other@example.com"),
    ),
    ("a mail one cent off", changed("mails", 0, text="Total: 29.34 USD"), {Kind.MAIL_AMOUNT}, ("29.33", "29.34")),
    ("a mail of a larger amount", changed("mails", 0, text="129.33"), {Kind.MAIL_AMOUNT}, ("29.33", "129.33")),
    ("a mail without its PDF", changed("mails", 0, attachments=()), {Kind.MAIL_PDF}, ("nothing attached",)),
    (
        "a mail with an empty PDF",
        changed("mails", 0, attachments=(Attachment(f"{number_of(1)}.pdf", "application/pdf", 0),)),
        {Kind.MAIL_PDF},
        ("0 bytes",),
    ),
    (
        "a mail with another's PDF",
        changed("mails", 0, attachments=(Attachment(f"{number_of(2)}.pdf", "application/pdf", 9),)),
        {Kind.MAIL_PDF},
        (number_of(1), number_of(2)),
    ),
    (
        "a Message-ID shared",
        changed("mails", 0, message_id="i2@shop.example"),
        {Kind.MESSAGE_ID_SHARED},
        ("i2@shop.example", number_of(1), number_of(2)),
    ),
]
