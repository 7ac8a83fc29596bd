"""Each pattern that a service declares is proven by scenarios, and each scenario by a test."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from rules import Breach

_CATALOGUE = "tests/world/catalogue.py"
_CLAIMED = re.compile(r"mark\.scenario\(\s*\"([^\"]+)\"")


def pattern_breaches(declared: Mapping[str, str], scenarios: Mapping[str, str], tests: str) -> Iterator[Breach]:
    """Every broken rule. `declared` are the services' pyproject.toml by path, `scenarios` the catalogue, `tests` the
    text of all tests."""
    patterns = {name.partition("/")[0] for name in scenarios}
    for path, text in declared.items():
        said = tomllib.loads(text).get("tool", {}).get("fencepost", {}).get("patterns")
        if said is None:
            yield Breach(
                path,
                "it declares no patterns, so no scenario is run for this service",
                'Add [tool.fencepost] with patterns = ["event-bus", …]; say in a comment why one is left out.',
            )
        for pattern in said or ():
            if pattern not in patterns:
                yield Breach(
                    path,
                    f"no scenario proves the pattern {pattern!r}",
                    f"Take one of {', '.join(sorted(patterns))}, or add its scenarios to {_CATALOGUE}.",
                )
    claimed = set(_CLAIMED.findall(tests))
    for name in scenarios:
        if name not in claimed:
            yield Breach(
                _CATALOGUE, f"no test claims {name}", f'Mark the test that proves it: @pytest.mark.scenario("{name}").'
            )


def declared_patterns(root: Path) -> dict[str, str]:
    """The pyproject.toml of each service: path in the repository to text."""
    return {
        file.relative_to(root).as_posix(): file.read_text() for file in sorted(root.glob("services/*/pyproject.toml"))
    }


def text_of_tests(root: Path) -> str:
    """All tests that may claim a scenario."""
    folders = (root / "tests", root / "platform/tests", *root.glob("services/*/tests"))
    return "\n".join(file.read_text() for folder in folders for file in sorted(folder.rglob("test_*.py")))
