"""Settings at the start of a process: all or a message that says what to mend."""

from __future__ import annotations

import sys
from typing import TypeVar

from pydantic import ValidationError

from .secrets import UnusableSecret, is_secret
from .service import ServiceSettings

EXIT_CONFIGURATION = 78  # EX_CONFIG of sysexits.h: a supervisor need not try again

SettingsT = TypeVar("SettingsT", bound=ServiceSettings)


def load(settings_class: type[SettingsT]) -> SettingsT:
    """Read `settings_class` from the environment.

    When anything is missing or wrong, prints every mistake with its mend to standard error and exits 78.
    """
    try:
        return settings_class()
    except ValidationError as error:
        print(_explain(settings_class, error), file=sys.stderr)
        raise SystemExit(EXIT_CONFIGURATION) from None


def _explain(settings_class: type[ServiceSettings], error: ValidationError) -> str:
    lines = [f"Cannot start: {error.error_count()} problem(s) in the settings of {settings_class.__name__}."]
    for problem in error.errors(include_url=False, include_input=True):
        field_name = str(problem["loc"][0]) if problem["loc"] else ""
        name = field_name.upper()
        field = settings_class.model_fields.get(field_name)
        secret = field is not None and is_secret(field)
        if isinstance(problem.get("input"), UnusableSecret):
            text = problem["input"].reason
        elif problem["type"] == "missing" and secret:
            text = f"{name} is not set. Set {name}, or {name}_FILE to the path of a file that holds it."
        elif problem["type"] == "missing":
            text = f"{name} is not set."
        else:
            reason = problem["msg"].removeprefix("Value error, ")
            text = f"{name}: {reason}" if name else reason
        lines.append(f"  - {text}")
    return "\n".join(lines)
