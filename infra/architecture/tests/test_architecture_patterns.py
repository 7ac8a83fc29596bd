"""What a copier forgets about patterns and scenarios is told."""

from __future__ import annotations

import pytest

from architecture.pattern_rules import declared_patterns, pattern_breaches, text_of_tests
from native.layout import ROOT
from world.catalogue import CATALOGUE

DECLARED = declared_patterns(ROOT)
TESTS = text_of_tests(ROOT)
ORDER = "services/order/pyproject.toml"


def said(declared: dict[str, str], scenarios: dict[str, str] = CATALOGUE) -> list[str]:
    """What the rules say of these declarations, with the suite's own tests."""
    return [str(breach) for breach in pattern_breaches(declared, scenarios, TESTS)]


def test_the_suite_keeps_every_rule_for_patterns() -> None:
    assert said(DECLARED) == []


@pytest.mark.parametrize(
    ("found", "planted", "expected"),
    [
        ('"event-bus"', '"event_bus"', "no scenario proves the pattern 'event_bus'"),
        ("[tool.fencepost]", "[tool.copied]", "it declares no patterns"),
    ],
)
def test_a_service_that_declares_no_known_pattern_is_caught(found: str, planted: str, expected: str) -> None:
    assert found in DECLARED[ORDER]
    caught = said(DECLARED | {ORDER: DECLARED[ORDER].replace(found, planted)})
    assert any(breach.startswith(f"{ORDER}: {expected}") for breach in caught), caught


def test_a_scenario_that_no_test_claims_is_caught() -> None:
    caught = said(DECLARED, CATALOGUE | {"tick/fires-in-the-past": "added, and its test put off"})
    assert any("no test claims tick/fires-in-the-past" in breach for breach in caught), caught
