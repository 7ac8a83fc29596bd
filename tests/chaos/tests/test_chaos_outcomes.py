"""The judge of cancelled orders names each fault that is planted before it, and nothing where all is well."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from chaos.outcomes import judge_outcomes, tally
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


def objections(records: Records, told: Sequence[Regret]) -> list[str]:
    return [one.text for one in judge_outcomes(records, told)]


def test_nothing_is_objected_where_all_is_well() -> None:
    assert objections(all_is_well(), regrets()) == []
    assert tally(all_is_well()) == {"cancelled": 4, "cancelled and refunded": 1, "declined": 1}


def test_a_free_order_may_be_cancelled_before_it_is_settled_and_has_no_invoice_then() -> None:
    records = all_is_well()
    for plant in (
        changed("orders", FREE, invoice_number=None),
        changed("payments", FREE, status="cancelled"),
        without("invoices", 1),
        without("mails", 2),
    ):
        records, _ = plant(records, [])

    assert objections(records, regrets()) == []


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        pytest.param(
            told(NEVER_CAPTURED, placed=Answer(1, AT, None, "422 no such currency")),
            "purchase of line 1: POST /orders answered 422 no such currency, and its orders are o1",
            id="a refusal that placed an order",
        ),
        pytest.param(
            without("orders", NEVER_CAPTURED),
            "purchase of line 1: POST /orders answered o1, and its orders are none",
            id="an order lost",
        ),
        pytest.param(
            also("orders", NEVER_CAPTURED, id="o1b"),
            "purchase of line 1: POST /orders answered o1, and its orders are o1, o1b",
            id="an order doubled",
        ),
        pytest.param(
            also("orders", NEVER_CAPTURED, id="o8", skus=("CDNOW-00008-1",)),
            "order o8 of CDNOW-00008-1 is one that nobody placed",
            id="an order made up",
        ),
        pytest.param(
            changed("orders", NEVER_CAPTURED, status="cancelling"),
            "order o1: its end should be cancelled and is cancelling",
            id="no end",
        ),
        pytest.param(
            changed("orders", GIVEN_BACK, status="paid"),
            "order o3: its state, as its cancel was answered, should be cancelled and is paid",
            id="paid although the cancel was accepted",
        ),
        pytest.param(
            told(GIVEN_BACK, refused_as="paid"),
            "order o3: its state, as its cancel was answered, should be paid and is cancelled",
            id="another end than the refusal said",
        ),
        pytest.param(
            told(DECLINED_LATE, refused_as="404: order-not-found"),
            "order o5: its state, as its cancel was answered, should be 404: order-not-found and is cancelled",
            id="a refusal that names no end",
        ),
        pytest.param(
            told(DECLINED, card_pays=True),
            "order o4: its end should be cancelled and is declined",
            id="a good card declined",
        ),
        pytest.param(
            changed("orders", NEVER_CAPTURED, customer_id=f"{RUN.customer_id(PURCHASES[0])}7"),
            "order o1: its customer should be cdnow.planted-regrets.00001 and is cdnow.planted-regrets.000017",
            id="another customer's",
        ),
        pytest.param(
            changed("orders", NEVER_CAPTURED, total_minor=2934),
            "order o1: its price should be (2933, 'USD') and is (2934, 'USD')",
            id="a cent more",
        ),
        pytest.param(
            without("payments", NEVER_CAPTURED),
            "order o1: the count of its payments should be 1 and is 0",
            id="no payment",
        ),
        pytest.param(
            changed("payments", GIVEN_BACK, status="confirming"),
            "order o3: its payment's state should be settled and is confirming",
            id="an open payment",
        ),
        pytest.param(
            changed("payments", NEVER_CAPTURED, status="settled"),
            "order o1: its payment's state should be cancelled and is settled",
            id="settled without money",
        ),
        pytest.param(
            changed("payments", GIVEN_BACK, amount_minor=0, currency="XXX"),
            "order o3: its payment's amount should be (2933, 'USD') and is (0, 'XXX')",
            id="a payment of nothing that captured",
        ),
        pytest.param(
            also("moves", 0, intent="pi_b"),
            "order o3: what was captured should be [] or [2933] and is [2933, 2933]",
            id="captured twice",
        ),
        pytest.param(
            also("moves", 0, intent="pi_b"),
            "order o3: the intent and currency of its capture should be ('pi_3', 'usd') and is ('pi_b', 'usd')",
            id="captured by another intent",
        ),
        pytest.param(
            changed("moves", 0, payment_id="p4", order_id="o4"),
            "order o4: what was captured should be [] and is [2933]",
            id="captured from a declined card",
        ),
        pytest.param(
            also("moves", 0, intent="pi_b", payment_id=None, order_id=None),
            "the capture of 2933 by pi_b is of no order",
            id="captured for nobody",
        ),
        pytest.param(
            without("moves", 1),
            "order o3: what was refunded should be [2933] and is []",
            id="money kept",
        ),
        pytest.param(
            changed("moves", 1, amount_minor=2932),
            "order o3: what was refunded should be [2933] and is [2932]",
            id="a cent kept",
        ),
        pytest.param(
            also("moves", 1),
            "order o3: what was refunded should be [2933] and is [2933, 2933]",
            id="refunded twice",
        ),
        pytest.param(
            changed("orders", GIVEN_BACK, refunded_minor=0),
            "order o3: what it says was refunded should be 2933 and is 0",
            id="a refund that the order does not know of",
        ),
        pytest.param(
            without("invoices", 0),
            "order o3: its invoices should be [(2933, 'USD')] and is []",
            id="a credit note without its invoice",
        ),
        pytest.param(
            also("invoices", 0, order_id="o4", number="INV-2026-000003"),
            "order o4: its invoices should be [] and is [(2933, 'USD')]",
            id="an invoice for a declined card",
        ),
        pytest.param(
            without("credit_notes", 0),
            "order o3: its credit notes should be [(2933, 'USD', 'INV-2026-000001')] and is []",
            id="an invoice without its credit note",
        ),
        pytest.param(
            changed("credit_notes", 0, total_minor=2932),
            "order o3: its credit notes should be [(2933, 'USD', 'INV-2026-000001')] and is "
            "[(2932, 'USD', 'INV-2026-000001')]",
            id="a cent not credited",
        ),
        pytest.param(
            changed("orders", GIVEN_BACK, invoice_number=None),
            "order o3: its invoice number should be INV-2026-000001 and is None",
            id="an invoice that the order does not know of",
        ),
        pytest.param(
            changed("orders", GIVEN_BACK, credit_note_numbers=()),
            "order o3: its credit note numbers should be ('CN-2026-000001',) and is ()",
            id="a credit note that the order does not know of",
        ),
        pytest.param(
            without("mails", 1),
            "mail.missing: credit note CN-2026-000001 of order o3: expected one, seen none",
            id="a credit note that was not mailed",
        ),
        pytest.param(
            also("mails", 1, id="again", message_id="again@shop.example"),
            "mail.double: credit note CN-2026-000001 of order o3: expected one, seen 2: CN-2026-000001@shop.example, "
            "again@shop.example",
            id="a credit note mailed twice",
        ),
    ],
)
def test_a_planted_fault_is_named(plant: Plant, expected: str) -> None:
    assert expected in objections(*plant(all_is_well(), regrets()))


def test_an_objection_names_the_order_that_tells_its_history() -> None:
    records, said = without("moves", 1)(all_is_well(), regrets())

    assert {one.about for one in judge_outcomes(records, said)} == {("o3",)}
