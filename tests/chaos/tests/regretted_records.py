"""Cancelled orders whose records agree, and faults to plant in them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from chaos.regrets import Regret
from demo.purchases import Purchase
from demo.records import (
    Answer,
    Attachment,
    CreditNoteRecord,
    InvoiceRecord,
    MailRecord,
    MoveRecord,
    OrderRecord,
    PaymentRecord,
    Records,
)
from demo.run import Run, order_lines

AT = datetime(2026, 1, 1, tzinfo=UTC)
RUN = Run("planted-regrets")
NEVER_CAPTURED, NEVER_OPENED, GIVEN_BACK, DECLINED, DECLINED_LATE, FREE = range(6)
PURCHASES = [Purchase(line, f"0000{line}", date(1997, 1, 1), cds=1, cents=2933) for line in range(1, 6)]
PURCHASES.append(Purchase(6, "00006", date(1997, 1, 1), cds=1, cents=0))
Plant = Callable[[Records, list[Regret]], tuple[Records, list[Regret]]]


def regrets() -> list[Regret]:
    """Six customers of whom one was told that the card had been declined already."""
    return [
        Regret(
            purchase,
            card_pays=index not in (DECLINED, DECLINED_LATE),
            placed=Answer(purchase.line, AT, f"o{purchase.line}"),
            refused_as="declined" if index == DECLINED else None,
        )
        for index, purchase in enumerate(PURCHASES)
    ]


def all_is_well() -> Records:
    """An order of each kind there may be, the free one paid before it was cancelled; and one of another run."""
    orders = [order(purchase, status="cancelled") for purchase in PURCHASES]
    orders[GIVEN_BACK] = replace(
        orders[GIVEN_BACK],
        refunded_minor=2933,
        invoice_number="INV-2026-000001",
        credit_note_numbers=("CN-2026-000001",),
    )
    orders[DECLINED] = replace(orders[DECLINED], status="declined")
    orders[FREE] = replace(orders[FREE], invoice_number="INV-2026-000002")
    payments = [
        PaymentRecord(f"p{p.line}", f"o{p.line}", "cancelled", "USD", p.cents, f"pi_{p.line}" if p.cents else None)
        for p in PURCHASES
    ]
    payments[NEVER_OPENED] = replace(payments[NEVER_OPENED], amount_minor=0, currency="XXX", intent=None)
    payments[GIVEN_BACK] = replace(payments[GIVEN_BACK], status="settled")
    payments[DECLINED] = replace(payments[DECLINED], status="declined")
    payments[DECLINED_LATE] = replace(payments[DECLINED_LATE], status="declined")
    payments[FREE] = replace(payments[FREE], status="settled")
    capture = MoveRecord(1, "capture", AT, "pi_3", "p3", "o3", "usd", 2933)
    return Records(
        run=RUN,
        purchases=PURCHASES,
        answers=[],
        orders=[*orders, OrderRecord("o9", "cdnow.planted.00009", "paid", "USD", 5, None, ("CDNOW-00009-1",))],
        payments=payments,
        moves=[capture, replace(capture, seq=2, kind="refund")],
        invoices=[
            InvoiceRecord("i3", "INV-2026-000001", "o3", "USD", 2933, AT, AT),
            InvoiceRecord("i6", "INV-2026-000002", "o6", "USD", 0, AT, AT),
        ],
        credit_notes=[CreditNoteRecord("c3", "CN-2026-000001", "INV-2026-000001", "o3", "USD", 2933, AT)],
        mails=[
            mail("INV-2026-000001", PURCHASES[GIVEN_BACK]),
            mail("CN-2026-000001", PURCHASES[GIVEN_BACK]),
            mail("INV-2026-000002", PURCHASES[FREE]),
        ],
    )


def order(purchase: Purchase, *, status: str) -> OrderRecord:
    skus = tuple(line["sku"] for line in order_lines(purchase))
    return OrderRecord(f"o{purchase.line}", RUN.customer_id(purchase), status, "USD", purchase.cents, None, skus)


def mail(number: str, purchase: Purchase) -> MailRecord:
    return MailRecord(
        id=f"m-{number}",
        message_id=f"{number}@shop.example",
        to=(RUN.customer_email(purchase),),
        subject=f"Your document {number}",
        text=f"USD {purchase.cents // 100}.{purchase.cents % 100:02d}",
        attachments=(Attachment(f"{number}.pdf", "application/pdf", 4_000),),
        received_at=AT,
    )


def changed(field: str, index: int, **values: Any) -> Plant:
    """A fault: the record of that index has other values."""

    def plant(records: Records, told: list[Regret]) -> tuple[Records, list[Regret]]:
        rows = list(getattr(records, field))
        rows[index] = replace(rows[index], **values)
        return _with(records, field, rows), told

    return plant


def without(field: str, index: int) -> Plant:
    """A fault: the record of that index is not there."""

    def plant(records: Records, told: list[Regret]) -> tuple[Records, list[Regret]]:
        rows = list(getattr(records, field))
        del rows[index]
        return _with(records, field, rows), told

    return plant


def also(field: str, index: int, **values: Any) -> Plant:
    """A fault: the record of that index stands a second time, with these other values."""

    def plant(records: Records, told: list[Regret]) -> tuple[Records, list[Regret]]:
        rows = list(getattr(records, field))
        return _with(records, field, [*rows, replace(rows[index], **values)]), told

    return plant


def told(index: int, **values: Any) -> Plant:
    """A fault: that customer was told something else."""

    def plant(records: Records, told: list[Regret]) -> tuple[Records, list[Regret]]:
        return records, [replace(one, **values) if number == index else one for number, one in enumerate(told)]

    return plant


def _with(records: Records, field: str, rows: Sequence[Any]) -> Records:
    values: dict[str, Any] = {field: rows}
    return replace(records, **values)
