"""Medians and ratios are what they say, and a figure that is missing is never made up."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from bench import report
from bench.results import Results
from bench.targets import TARGETS, Target


def drained(*rounds: dict[str, float | None]) -> Results:
    results = Results()
    for number, totals in enumerate(rounds, start=1):
        for contestant, total in totals.items():
            results.add("relay-drain", contestant, {"total": total, "lost": 0}, of_round=number)
    return results


def test_a_median_is_that_of_the_rounds_that_have_the_figure() -> None:
    results = drained({"a": 10}, {"a": 1000}, {"a": 30}, {"a": None})

    assert results.median("relay-drain", "a", "total") == 30
    assert results.median("relay-drain", "b", "total") is None
    assert results.median("relay-drain", "a", "steady") is None


def test_a_ratio_compares_within_a_round_so_that_a_slow_minute_for_both_does_not_count() -> None:
    results = drained({"a": 80, "b": 100}, {"a": 8, "b": 10}, {"a": 50, "b": 20})

    assert results.ratio("relay-drain", "a", "b", "total") == pytest.approx(0.8)


def test_a_round_in_which_one_of_the_two_failed_gives_no_ratio() -> None:
    results = drained({"a": 50, "b": 100}, {"a": 1}, {"b": 1})

    assert results.ratio("relay-drain", "a", "b", "total") == pytest.approx(0.5)
    assert drained({"a": 1}, {"b": 1}).ratio("relay-drain", "a", "b", "total") is None
    assert drained({"a": 1, "b": 0}).ratio("relay-drain", "a", "b", "total") is None


def test_the_worst_of_the_rounds_is_shown_for_what_must_never_happen() -> None:
    results = Results()
    for number, lost in enumerate([0, 3, 0], start=1):
        results.add("relay-drain", "a", {"lost": lost}, of_round=number)

    assert results.worst("relay-drain", "a", "lost") == 3


@pytest.mark.parametrize(
    ("value", "at_least", "verdict"),
    [
        (0.8, True, "met"),
        (0.79, True, "missed"),
        (4.0, False, "missed"),
        (0.8, False, "met"),
        (None, True, "not measured"),
    ],
)
def test_a_target_is_met_at_its_bound_missed_beyond_it_and_says_when_it_was_not_measured(
    value: float | None, at_least: bool, verdict: str
) -> None:
    target = Target("share", lambda _: value, 0.8, at_least=at_least)

    assert target.verdict(Results()) == (verdict, value)


def test_the_report_has_every_target_and_the_reason_of_whoever_was_left_out(tmp_path: Path) -> None:
    results = drained({"fencepost": 80, "hand-tuned": 100})
    results.leave_out("relay-drain", "walbox", "needs a newer Python")
    console = Console(width=160, file=io.StringIO())

    report.show(console, results)
    written = json.loads(report.write(results, tmp_path).read_text())

    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert all(target.text in shown for target in TARGETS)
    assert "walbox: needs a newer Python" in shown
    assert [target["verdict"] for target in written["targets"]].count("met") == 1
    assert written["left_out"] == [
        {"measurement": "relay-drain", "contestant": "walbox", "reason": "needs a newer Python"}
    ]
    assert {result["contestant"] for result in written["measured"]} == {"fencepost", "hand-tuned"}
