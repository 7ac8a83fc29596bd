"""The real purchases: read exactly, and turned into orders that add up exactly."""

from collections import Counter
from pathlib import Path

import pytest

from demo.purchases import FACTS, SAMPLE, PurchasesUnreadable, cents, parse_line, read_purchases
from demo.run import Run, order_lines, purchase_line_of


def test_the_whole_file_shows_the_known_facts() -> None:
    purchases = read_purchases()
    assert len(purchases) == 6_919
    assert sum(purchase.cents for purchase in purchases) == 24_409_194
    assert [purchase.line for purchase in purchases] == list(range(1, 6_920))


def test_another_file_is_refused(tmp_path: Path) -> None:
    shortened = tmp_path / "short.txt"
    shortened.write_text("\n".join(SAMPLE.read_text(encoding="ascii").splitlines()[:-1]), encoding="ascii")
    with pytest.raises(PurchasesUnreadable, match=f"expected .*{FACTS.purchases}.*counted .*{FACTS.purchases - 1}"):
        read_purchases(shortened)


@pytest.mark.parametrize("line", ["", "00004 0001 19970101 2", "00004 0001 19970101 2 x", "00004 0001 19971301 2 1.00"])
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(PurchasesUnreadable, match="line 7"):
        parse_line(7, line)


def test_cents_are_exact() -> None:
    assert cents("29.33") == 2933
    assert cents("0.00") == 0
    for amount in ("0.005", "-1.00"):
        with pytest.raises(ValueError, match="whole cents"):
            cents(amount)


def test_every_order_adds_up_to_its_purchase() -> None:
    for purchase in read_purchases():
        lines = order_lines(purchase)
        assert len(lines) in (1, 2)
        assert sum(line["quantity"] for line in lines) == purchase.cds
        assert sum(line["quantity"] * line["unit_price_minor"] for line in lines) == purchase.cents
        assert all(line["quantity"] > 0 and line["unit_price_minor"] >= 0 for line in lines)
        assert {purchase_line_of(line["sku"]) for line in lines} == {purchase.line}


def test_lines_that_stand_twice_are_different_purchases() -> None:
    purchases, run = read_purchases(), Run("one")
    keys = Counter(run.idempotency_key(purchase) for purchase in purchases)
    assert len(keys) == len(purchases)


def test_a_run_owns_its_own_orders_only() -> None:
    purchase = read_purchases()[0]
    one, other = Run("a"), Run("a-b")
    assert one.owns_customer(one.customer_id(purchase))
    assert one.owns_address(one.customer_email(purchase))
    assert not one.owns_customer(other.customer_id(purchase))
    assert not other.owns_customer(one.customer_id(purchase))
    assert one.idempotency_key(purchase) != other.idempotency_key(purchase)


@pytest.mark.parametrize("name", ["", "-a", "A", "a.b", "a b", "a" * 41])
def test_a_run_id_that_could_not_stand_in_an_address_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="run id"):
        Run(name)


def test_a_sku_of_someone_else_has_no_purchase() -> None:
    assert purchase_line_of("TEA-ASSAM-250") is None
    assert purchase_line_of("CDNOW-00001-3") is None
