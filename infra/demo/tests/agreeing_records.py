"""Records of a run in which everybody agrees, to plant disagreements in."""

from dataclasses import replace
from datetime import UTC, date, datetime

from demo.purchases import Purchase
from demo.records import (
    Answer,
    Attachment,
    CallRecord,
    InvoiceRecord,
    MailRecord,
    MoveRecord,
    OrderRecord,
    PaymentRecord,
    Records,
)
from demo.run import Run, order_lines

AT = datetime(2026, 1, 1, tzinfo=UTC)
RUN = Run("planted")
PURCHASES = (
    Purchase(1, "00004", date(1997, 1, 1), cds=2, cents=2933),
    Purchase(2, "00004", date(1997, 1, 1), cds=2, cents=2933),  # stands twice: another purchase
    Purchase(3, "00018", date(1997, 1, 2), cds=1, cents=0),
)
FREE = 2  # the index of the free one


def agreeing() -> Records:
    """Three orders that agree in everything, beside a foreign order whose records must not be looked at."""
    records = Records(
        run=RUN,
        purchases=PURCHASES,
        answers=[Answer(purchase.line, AT, f"o{purchase.line}") for purchase in PURCHASES],
        orders=[order_of(purchase) for purchase in PURCHASES],
        payments=[
            PaymentRecord(f"p{p.line}", f"o{p.line}", "settled", "USD", p.cents, f"pi_{p.line}" if p.cents else None)
            for p in PURCHASES
        ],
        calls=[
            CallRecord(2 * p.line + step, operation, f"p{p.line}", f"o{p.line}")
            for p in PURCHASES[:FREE]
            for step, operation in enumerate(("payment_intents.create", "payment_intents.confirm"))
        ],
        moves=[
            MoveRecord(p.line, "capture", AT, f"pi_{p.line}", f"p{p.line}", f"o{p.line}", "usd", p.cents)
            for p in PURCHASES[:FREE]
        ],
        invoices=[
            InvoiceRecord(f"i{p.line}", number_of(p.line), f"o{p.line}", "USD", p.cents, AT, AT) for p in PURCHASES
        ],
        mails=[mail_of(purchase) for purchase in PURCHASES],
    )
    foreign_order = OrderRecord("other", "journey-1", "pending_payment", "EUR", 1, None, ("TEA",))
    foreign_invoice = InvoiceRecord("i9", number_of(4), "another", "EUR", 77, AT, None)
    attached = (Attachment("x.pdf", "application/pdf", 1),)
    foreign_mail = MailRecord("m9", "i9@shop.example", ("journey-1@example.com",), "Hello", "", attached, AT)
    return replace(
        records,
        orders=[*records.orders, foreign_order],
        invoices=[*records.invoices, foreign_invoice],
        mails=[*records.mails, foreign_mail],
    )


def number_of(count: int) -> str:
    return f"INV-2026-{count:06d}"


def order_of(purchase: Purchase) -> OrderRecord:
    skus = tuple(line["sku"] for line in order_lines(purchase))
    customer = RUN.customer_id(purchase)
    return OrderRecord(f"o{purchase.line}", customer, "paid", "USD", purchase.cents, number_of(purchase.line), skus)


def mail_of(purchase: Purchase) -> MailRecord:
    number = number_of(purchase.line)
    return MailRecord(
        id=f"m{purchase.line}",
        message_id=f"i{purchase.line}@shop.example",
        to=(RUN.customer_email(purchase),),
        subject=f"Your invoice {number}",
        text=f"Total: {purchase.cents // 100}.{purchase.cents % 100:02d} USD.",
        attachments=(Attachment(f"{number}.pdf", "application/pdf", 4_000),),
        received_at=AT,
    )
