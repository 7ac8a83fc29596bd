"""How large a run is, and what of it is wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    jobs: int = 3_000
    """How many jobs are run as fast as they go, each time."""
    statements: int = 1_000
    """How often each statement of a job is sent, each time."""
    only: Sequence[str] = ()
    """Who takes part, by name; empty: all."""
    say: Callable[[str], None] = lambda _: None


QUICK = Plan(
    rows=10_000,
    slow_share=0.2,
    repeats=1,
    flow_seconds=5.0,
    messages=2_000,
    idle_seconds=10.0,
    jobs=500,
    statements=200,
)
"""Shows in a few minutes that all works; too small to say how fast."""
