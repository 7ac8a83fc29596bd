"""Each rule for the shape of the code catches what is planted for it, and the suite keeps them all."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from architecture import RULES, architecture_breaches
from architecture.background_rules import OWNERS, a_background_task_has_an_owner
from architecture.client_rules import PLACES
from architecture.composition_rules import ENVIRONMENT, settings_have_one_place
from architecture.sources import PLATFORM
from architecture.surface_rules import SIDE_DOORS
from architecture.table_rules import READERS
from architecture.tests.composition_plants import COMPOSITION_PLANTS
from architecture.tests.door_plants import DOOR_PLANTS
from architecture.tests.planting import SOURCES, Plant
from architecture.tests.right_plants import RIGHT_PLANTS
from architecture.tests.shape_plants import SHAPE_PLANTS
from native.layout import ROOT
from service_platform.database import forbid_in_transaction

PLANTS = SHAPE_PLANTS | COMPOSITION_PLANTS | DOOR_PLANTS
ALL_PLANTS = [(rule, plant) for rule, plants in PLANTS.items() for plant in plants]
ALL_RIGHT = [(rule, plant) for rule, plants in RIGHT_PLANTS.items() for plant in plants]


def test_the_suite_keeps_every_rule() -> None:
    assert [str(breach) for breach in architecture_breaches(SOURCES)] == []


def test_every_rule_has_its_planted_violation() -> None:
    assert {rule.__name__ for rule in RULES} == PLANTS.keys()


@pytest.mark.parametrize(("rule", "plant"), ALL_PLANTS, ids=[f"{rule}-{plant.said}" for rule, plant in ALL_PLANTS])
def test_a_planted_violation_is_caught_by_its_rule(rule: str, plant: Plant) -> None:
    check = next(check for check in RULES if check.__name__ == rule)
    caught = list(check(plant.sources()))
    assert any(plant.said in str(breach) and breach.where.startswith(plant.path) for breach in caught), caught


@pytest.mark.parametrize(("rule", "plant"), ALL_RIGHT, ids=[f"{rule}-{plant.said}" for rule, plant in ALL_RIGHT])
def test_right_code_is_let_pass(rule: str, plant: Plant) -> None:
    check = next(check for check in RULES if check.__name__ == rule)
    assert list(check(plant.sources())) == []


def test_every_client_has_its_planted_violation() -> None:
    mends = [place.mend for place in PLACES]
    plants = PLANTS["a_client_is_used_in_its_one_place"]
    assert all(any(plant.said in mend for plant in plants) for mend in mends)


def test_what_is_named_as_an_exception_is_one() -> None:
    names = {source.name for source in SOURCES}
    assert SIDE_DOORS.keys() <= names
    assert OWNERS.keys() <= names
    renamed = [replace(source, name=f"{source.name}_") if source.name in OWNERS else source for source in SOURCES]
    starting = {breach.where.partition(":")[0] for breach in a_background_task_has_an_owner(renamed)}
    assert starting == {source.path for source in SOURCES if source.name in OWNERS}
    for module, reason in ENVIRONMENT.items():
        inside = [source for source in SOURCES if source.lies_in(module)]
        moved = [replace(source, name=f"{PLATFORM}.elsewhere.{source.stem}") for source in inside]
        assert list(settings_have_one_place(moved)), reason
    for (module, table), reason in READERS.items():
        assert any(table in source.text for source in SOURCES if source.lies_in(module)), reason


def test_the_page_names_every_rule_and_none_that_is_gone() -> None:
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+){2,})`", (ROOT / "docs/architecture-rules.md").read_text()))
    assert named - {forbid_in_transaction.__name__} == {rule.__name__ for rule in RULES}


def test_the_command_holds_on_this_checkout() -> None:
    done = subprocess.run([sys.executable, "-m", "architecture"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
