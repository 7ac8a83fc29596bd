"""The judge of events names each fault that is planted before it, and nothing where all is well."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from chaos.evidence import Carried, Evidence, Said
from chaos.judge import judge_events, objection_to
from demo.disagreement import Disagreement, Kind

PLACED = Said("order", "e1", "order.placed", "k1")
CANCEL = Said("order", "e2", "order.cancel_requested", "k1")
OTHER = Said("order", "e3", "order.placed", "k2")
ALL_WELL = Evidence(
    said=[PLACED, CANCEL, OTHER],
    carried=[Carried("order", "e1", "k1"), Carried("order", "e3", "k2"), Carried("order", "e2", "k1")],
    readers={"order.placed": ["payment.open-payment", "billing.record-order"], "order.cancel_requested": ["payment.c"]},
    handled={
        "payment.open-payment": frozenset({"e1", "e3"}),
        "billing.record-order": frozenset({"e1", "e3"}),
        "payment.c": frozenset({"e2"}),
    },
    unfinished={"order: dead letters": []},
)


def objections(evidence: Evidence) -> list[str]:
    return [one.text for one in judge_events(evidence)]


def test_all_is_well_and_a_record_that_came_twice_is_no_fault() -> None:
    twice = replace(ALL_WELL, carried=[*ALL_WELL.carried, Carried("order", "e1", "k1")])

    assert objections(ALL_WELL) == []
    assert objections(twice) == []


@pytest.mark.parametrize(
    ("carried", "expected"),
    [
        pytest.param(
            [Carried("order", "e1", "k1"), Carried("order", "e3", "k2")],
            "event order.cancel_requested e2 of key k1 was committed and is in no topic",
            id="lost",
        ),
        pytest.param(
            [*ALL_WELL.carried, Carried("order", "e9", "k1")],
            "event e9 of key k1 is in the topic of order, and nobody committed it",
            id="made up",
        ),
        pytest.param(
            [Carried("order", "e2", "k1"), Carried("order", "e1", "k1"), Carried("order", "e3", "k2")],
            "order's events of key k1 were carried in another order: e2 stands where e1 was committed",
            id="out of order",
        ),
    ],
)
def test_what_the_topics_should_not_hold_is_named(carried: Sequence[Carried], expected: str) -> None:
    assert objections(replace(ALL_WELL, carried=carried)) == [expected]


def test_an_event_that_a_consumer_has_not_handled_is_named_with_the_consumer() -> None:
    handled = {**ALL_WELL.handled, "billing.record-order": frozenset({"e1"})}

    assert objections(replace(ALL_WELL, handled=handled)) == [
        "consumer billing.record-order has not handled event order.placed e3 of key k2"
    ]


def test_work_that_is_left_is_named_with_its_ids_and_the_first_tells_its_history() -> None:
    left = {"payment: dead letters": ["e1", "e2", "e3", "e4"], "order: dead letters": []}

    (objection,) = judge_events(replace(ALL_WELL, unfinished=left))

    assert objection.text == "payment: dead letters: 4 (e1, e2, e3), and none should be left"
    assert objection.about == ("e1",)


def test_a_gap_in_the_numbers_tells_the_history_of_the_order_behind_it() -> None:
    found = Disagreement(Kind.NUMBER_GAP, "numbers INV-2026-", "4 after 3", "5 (INV-2026-000005)")

    assert objection_to(found, {"INV-2026-000003": "o3", "INV-2026-000005": "o5"}).about == ("o5",)


def test_an_objection_names_the_ids_that_tell_its_history() -> None:
    (lost,) = judge_events(replace(ALL_WELL, carried=ALL_WELL.carried[:2]))

    assert lost.about == ("e2", "k1")
