"""What a service of a compose file is told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_WITH_DEFAULT = re.compile(r"^\$\{\w+:-(?P<default>.*)\}$")


def environment_of(service: Mapping[str, Any]) -> dict[str, str]:
    """Its environment, whichever of the two ways the file writes it in."""
    given = service.get("environment", {})
    if isinstance(given, Mapping):
        return {str(name): str(value) for name, value in given.items()}
    return dict(str(line).partition("=")[::2] for line in given)


def filled_in(value: str) -> str:
    """What `value` is where nobody sets the variable that it names."""
    match = _WITH_DEFAULT.match(value)
    return match["default"] if match else value
