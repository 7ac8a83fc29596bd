"""How large a run is, and what of it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """`rows` to drain, `sent` rows that lie in the table before (0: none), `repeats` of everything, interleaved."""

    rows: int = 50_000
    sent: int = 0
    repeats: int = 3
    flow_seconds: float = 10.0
    """How long a steady flow of rows lasts, each time."""
    messages: int = 10_000
    """How many messages are consumed, each time."""
    idle_seconds: float = 30.0
    only: tuple[str, ...] = ()
    """Names of contestants; empty: all."""
    say: Callable[[str], None] = lambda _: None

    def wants(self, contestant: str) -> bool:
        return not self.only or contestant in self.only
