"""The judge finds every planted disagreement, by name, and nothing in records that agree."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from demo.disagreement import Kind
from demo.reconcile import reconcile
from demo.records import CreditNoteRecord, InvoiceRecord, Records
from demo.tests.agreeing_records import AT, agreeing
from demo.tests.planted_disagreements import PLANTED
from demo.totals import totals


def test_records_that_agree_have_no_disagreement() -> None:
    assert reconcile(agreeing()) == []


@pytest.mark.parametrize(("plant", "kinds", "named"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED])
def test_a_planted_disagreement_is_found_and_named(
    plant: Callable[[Records], Records], kinds: set[Kind], named: tuple[str, ...]
) -> None:
    found = reconcile(plant(agreeing()))
    assert {disagreement.kind for disagreement in found} == kinds
    told = "\n".join(map(str, found))
    for text in named:
        assert text in told


def test_every_kind_of_disagreement_is_planted() -> None:
    assert set().union(*(kinds for _, _, kinds, _ in PLANTED)) == set(Kind)


def test_the_series_of_each_year_counts_by_itself() -> None:
    records = agreeing()
    next_year = InvoiceRecord("i5", "INV-2027-000001", "another", "EUR", 5, AT, None)
    assert reconcile(replace(records, invoices=[*records.invoices, next_year])) == []


def test_credit_notes_of_other_runs_count_in_a_series_of_their_own_without_a_gap() -> None:
    notes = [CreditNoteRecord(f"c{n}", f"CN-2026-00000{n}", "INV", "another", "EUR", 5, AT) for n in (1, 2, 3)]
    assert reconcile(replace(agreeing(), credit_notes=notes)) == []
    assert [str(found) for found in reconcile(replace(agreeing(), credit_notes=[notes[0], notes[2]]))] == [
        "number.gap: numbers CN-2026-: expected 2 after 1, seen 3 (CN-2026-000003)"
    ]


def test_totals_count_this_run_only() -> None:
    assert {total.name: (total.count, total.cents) for total in totals(agreeing())} == {
        "purchases played": (3, 5866),
        "… of them free": (1, None),
        "orders": (3, 5866),
        "payments": (3, 5866),
        "captures at the provider": (2, 5866),
        "invoices": (3, 5866),
        "mails with an attachment": (3, None),
    }
