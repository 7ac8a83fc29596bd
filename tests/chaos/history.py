"""What all processes logged about an object, in the order of time, with the blows in between."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from .storm import Struck

_SHOWN = ("event", "kind", "run", "consumer", "attempt", "status", "exception")
_LONGEST = 200
_TELL_MORE = ("order_id", "payment_id", "invoice_id", "job_id", "correlation_id")
_OF_MANY = "tick:"  # a tick's jobs look at whatever there is


def history(logs: Path, ids: Sequence[str], struck: Sequence[Struck]) -> list[str]:
    """One line an event that has any of `ids`, or an id that stands beside one of them: a payment's beside its order's,
    or that of the request which set it all going.

    Empty without ids.
    """
    if not ids:
        return []
    lines = list(_lines(logs))
    wanted = set(ids)
    for _, _, _, line in lines:  # an order's payment, invoice and jobs carry ids of their own
        if any(one in line for one in wanted):
            wanted |= _ids_of(line)
    about = [
        (at, f"{process:18} {_shown(entry)}") for at, process, entry, line in lines if any(i in line for i in wanted)
    ]
    if not about:
        return []
    first, last = min(at for at, _ in about), max(at for at, _ in about)
    blows = [(one.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), f"{'*':18} {one}") for one in struck]
    return [f"{at} {text}" for at, text in sorted([*about, *(blow for blow in blows if first <= blow[0] <= last)])]


def _lines(logs: Path) -> Iterator[tuple[str, str, dict[str, object], str]]:
    for file in sorted(logs.glob("*.log")):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("{"):
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:
                    continue  # cut off by a kill
                if "at" in entry:
                    yield str(entry["at"]), file.stem, entry, line


def _ids_of(line: str) -> set[str]:
    entry = json.loads(line)
    ids = {str(entry[name]) for name in _TELL_MORE if entry.get(name)}
    return {one for one in ids if not one.startswith(_OF_MANY)}


def _shown(entry: dict[str, object]) -> str:
    return " ".join(str(entry[name])[-_LONGEST:].replace("\n", " | ") for name in _SHOWN if entry.get(name) is not None)
