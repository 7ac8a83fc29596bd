"""What the stack knows about one process that it keeps running."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Probe = Callable[[], str | None]
"""Asks a process whether it is ready: None when it is, else what is missing, in a few words.

Raises StackError only for what no waiting mends.
"""


class Tier(enum.IntEnum):
    """The order of starting; stopping goes backwards."""

    STORE = 1
    EDGE = 2
    SERVICE = 3


@dataclass(frozen=True)
class Process:
    """One supervised process. `role` is its name without the number of the replica."""

    name: str
    role: str
    tier: Tier
    argv: tuple[str, ...]
    cwd: Path
    probe: Probe
    env: Mapping[str, str] = field(default_factory=dict)
    stop_signal: str = "TERM"
    stop_seconds: int = 30
    sources: tuple[Path, ...] = ()
    """Where its code lies: when that changes, the running process is not what is declared any more."""
    run_as: str | None = None
    own_folder: Path | None = None
    """A folder that this program's children work in, where they do not carry their parent's environment."""
    stale_files: tuple[Path, ...] = ()
    """Files that a killed run leaves behind and that mean nothing once all its processes are gone."""
