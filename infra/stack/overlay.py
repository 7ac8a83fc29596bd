"""Laying what a stack has of its own over what docker-compose.yaml says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any

from native.errors import StackError


def laid_over(below: Any, above: Any) -> Any:
    """`below` with `above` on top: mappings are merged, null takes away, anything else replaces what was there."""
    if not isinstance(below, Mapping) or not isinstance(above, Mapping):
        return deepcopy(above)
    merged = dict(below)
    for key, value in above.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = laid_over(merged.get(key), value)
    return merged


def services_with(services: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """`services` with the overlay's on top.

    A key of the overlay is a name, or patterns with commas between them (`*-api, *-relay`), and applies in the order of
    the file. A name that is new is a service of the stack alone.

    Raises:
        StackError: a pattern meets no service.
    """
    merged = dict(services)
    for key, patch in overlay.items():
        patterns = [pattern.strip() for pattern in key.split(",")]
        for pattern in patterns:
            for name in _met(pattern, merged):
                merged |= {name: laid_over(merged.get(name, {}), patch)}
                if patch is None:
                    del merged[name]
    return merged


def _met(pattern: str, names: Iterable[str]) -> list[str]:
    met = [name for name in names if fnmatchcase(name, pattern)]
    if not met and any(sign in pattern for sign in "*?["):
        raise StackError(f"the overlay's {pattern!r} meets no service", "Mend the pattern, or take it away.")
    return met or [pattern]
