"""What the public APIs say, as plain records: all that the reconcile knows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from demo.purchases import Purchase
from demo.run import Run


@dataclass(frozen=True, slots=True)
class Answer:
    """What `POST /orders` answered for one purchase: an order id, or why there is none.

    `posted_at` is the client's wall clock before the first try left, so a latency counts every retry.
    """

    line: int
    posted_at: datetime
    order_id: str | None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class OrderRecord:
    """An order as `GET /orders` shows it to staff; `skus` are those of its lines, `refunded_minor` was given back.

    `timeline` is what happened to it, each as the event's name and what stands beside it.
    """

    id: str
    customer_id: str
    status: str
    currency: str
    total_minor: int
    invoice_number: str | None
    skus: tuple[str, ...]
    refunded_minor: int = 0
    credit_note_numbers: tuple[str, ...] = ()
    timeline: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PaymentRecord:
    """A payment as `GET /payments` shows it; `intent` is the provider's reference, None for a free order."""

    id: str
    order_id: str
    status: str
    currency: str
    amount_minor: int
    intent: str | None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call in the provider's ledger, whatever became of it."""

    seq: int
    operation: str
    payment_id: str | None
    order_id: str | None


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """A movement of money in the provider's ledger: `kind` is "capture" or "refund", the amount always positive."""

    seq: int
    kind: str
    at: datetime
    intent: str
    payment_id: str | None
    order_id: str | None
    currency: str
    amount_minor: int


@dataclass(frozen=True, slots=True)
class InvoiceRecord:
    """An invoice as `GET /invoices` shows it."""

    id: str
    number: str
    order_id: str
    currency: str
    total_minor: int
    issued_at: datetime
    mailed_at: datetime | None


@dataclass(frozen=True, slots=True)
class CreditNoteRecord:
    """A credit note as `GET /credit-notes` shows it: what was given back of its invoice."""

    id: str
    number: str
    invoice_number: str
    order_id: str
    currency: str
    total_minor: int
    mailed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Attachment:
    """One attached part of a mail; `size` in bytes."""

    file_name: str
    content_type: str
    size: int


@dataclass(frozen=True, slots=True)
class MailRecord:
    """A mail as the mailbox holds it; `text` is its plain text, `id` the mailbox's own id (one per mail received)."""

    id: str
    message_id: str
    to: tuple[str, ...]
    subject: str
    text: str
    attachments: tuple[Attachment, ...]
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Records:
    """Everything that one reconcile looks at.

    `purchases` and `answers` are what was played. The others are what the suite, the provider and the mailbox say. They
    may hold other runs' records too, which are not looked at; `invoices` and `credit_notes` must hold all there are,
    because numbers have no gap over the series and not over a run.
    """

    run: Run
    purchases: Sequence[Purchase]
    answers: Sequence[Answer]
    orders: Sequence[OrderRecord] = field(default=())
    payments: Sequence[PaymentRecord] = field(default=())
    calls: Sequence[CallRecord] = field(default=())
    moves: Sequence[MoveRecord] = field(default=())
    invoices: Sequence[InvoiceRecord] = field(default=())
    credit_notes: Sequence[CreditNoteRecord] = field(default=())
    mails: Sequence[MailRecord] = field(default=())
