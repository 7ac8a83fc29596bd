"""Prints the part of requirements.lock that some packages need, hashes included: `python needed.py NAME... < lock`.

An image gets what its service needs and nothing else of the one environment that the lock is for. The lock says behind
each package through whom it came (`# via`), so what is needed is found without asking an index. Run by the image
builds, on nothing but the standard library.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

_ENTRY = re.compile(r"^(?P<name>[a-z0-9][a-z0-9._-]*)==", re.MULTILINE)
_VIA = re.compile(r"^ +# +(?!via$)(?:via +)?(?P<name>[a-z0-9][a-z0-9._-]*)", re.MULTILINE)


class UnknownPackage(ValueError):
    """A name that the lock has neither as a package nor as one that asked for a package."""


def needed(lock: str, names: Iterable[str]) -> str:
    """The entries of `lock` for `names` and for all that they need. A name may be a package, or a project of ours.

    Raises:
        UnknownPackage: `lock` does not know a name.
    """
    entries = _entries(lock)
    asked_by = {name: {match["name"] for match in _VIA.finditer(entry)} for name, entry in entries.items()}
    wanted = set(names)
    if unknown := wanted - entries.keys() - set().union(*asked_by.values()):
        raise UnknownPackage(f"the lock has no {', '.join(sorted(unknown))}: run `make lock`")
    while more := {name for name, askers in asked_by.items() if askers & wanted} - wanted:
        wanted |= more
    return "".join(entry for name, entry in entries.items() if name in wanted)


def _entries(lock: str) -> dict[str, str]:
    starts = [*_ENTRY.finditer(lock)]
    ends = [*(match.start() for match in starts[1:]), len(lock)]
    entries: dict[str, str] = {}
    for match, end in zip(
        starts, ends, strict=True
    ):  # a package has one entry for each Python that needs another of it
        entries[match["name"]] = entries.get(match["name"], "") + lock[match.start() : end]
    return entries


if __name__ == "__main__":
    sys.stdout.write(needed(sys.stdin.read(), sys.argv[1:]))
