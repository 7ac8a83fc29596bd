"""The judge of cancelled orders names each fault that is planted before it, and nothing where all is well."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chaos.outcomes import judge_outcomes, tally
from chaos.regrets import Regret
from chaos.tests.regretted_records import (
    AT,
    DECLINED,
    DECLINED_LATE,
    FREE,
    GIVEN_BACK,
    NEVER_CAPTURED,
    PURCHASES,
    RUN,
    Plant,
    all_is_well,
    also,
    changed,
    regrets,
    told,
    without,
)
from demo.records import Answer, Records


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
            changed("orders", GIVEN_BACK, timeline=("payment.settled", *["payment.refunded refund_id=r3"] * 2)),
            "order o3: what its timeline tells more than once should be [] and is ['payment.refunded refund_id=r3']",
            id="an event that took effect twice",
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
