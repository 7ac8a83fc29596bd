"""What the judge says when two records do not agree."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Every way in which the records can disagree."""

    ANSWER_MISSING = "answer.missing"
    ANSWER_DIFFERS = "answer.differs"
    ORDER_MISSING = "order.missing"
    ORDER_DOUBLE = "order.double"
    ORDER_UNKNOWN = "order.unknown"
    ORDER_CUSTOMER = "order.customer"
    ORDER_AMOUNT = "order.amount"
    ORDER_STATUS = "order.status"
    ORDER_INVOICE_NUMBER = "order.invoice_number"
    ORDER_TOLD_TWICE = "order.told_twice"
    PAYMENT_MISSING = "payment.missing"
    PAYMENT_DOUBLE = "payment.double"
    PAYMENT_AMOUNT = "payment.amount"
    PAYMENT_STATUS = "payment.status"
    CAPTURE_MISSING = "capture.missing"
    CAPTURE_DOUBLE = "capture.double"
    CAPTURE_AMOUNT = "capture.amount"
    CAPTURE_REFERENCE = "capture.reference"
    CAPTURE_REFUNDED = "capture.refunded"
    FREE_ORDER_CALLED = "provider.free_order_called"
    INVOICE_MISSING = "invoice.missing"
    INVOICE_DOUBLE = "invoice.double"
    INVOICE_AMOUNT = "invoice.amount"
    CREDIT_NOTE_UNFOUNDED = "credit_note.unfounded"
    NUMBER_UNREADABLE = "number.unreadable"
    NUMBER_DOUBLE = "number.double"
    NUMBER_GAP = "number.gap"
    MAIL_MISSING = "mail.missing"
    MAIL_DOUBLE = "mail.double"
    MAIL_UNKNOWN = "mail.unknown"
    MAIL_RECIPIENT = "mail.recipient"
    MAIL_AMOUNT = "mail.amount"
    MAIL_PDF = "mail.pdf"
    MESSAGE_ID_SHARED = "mail.message_id_shared"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One disagreement: about what (with its ids), what was expected and what was seen."""

    kind: Kind
    subject: str
    expected: str
    seen: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}: expected {self.expected}, seen {self.seen}"
