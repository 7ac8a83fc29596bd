"""How large a run is, and what of it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """`rows` to drain, `sent` rows that lie in the table before (0: none), `repeats` of everything, interleaved."""

    rows: int = 50_000
    sent: int = 0
    slow_share: float = 1.0
    """What part of its `most_rows` a slow relay gets."""
    repeats: int = 3
    flow_seconds: float = 10.0
    """How long a steady flow of rows lasts, each time."""
    messages: int = 10_000
    """How many messages are consumed, each time."""
    idle_seconds: float = 30.0
    say: Callable[[str], None] = lambda _: None


QUICK = Plan(rows=10_000, slow_share=0.2, repeats=1, flow_seconds=5.0, messages=2_000, idle_seconds=10.0)
"""Shows in a few minutes that all works; too small to say how fast."""
