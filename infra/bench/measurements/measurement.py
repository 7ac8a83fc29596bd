"""What a measurement is made of: how it is done, and which figures its table shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.contestants import Contestant
from bench.lab import Lab
from bench.plan import Plan
from bench.results import Results

Measure = Callable[[Lab, Sequence[Contestant], Plan, Results], Awaitable[None]]


@dataclass(frozen=True)
class Column:
    """One figure in a table: its median over the rounds, or the worst of them."""

    header: str
    figure: str
    digits: int = 0
    of: Literal["median", "worst"] = "median"


@dataclass(frozen=True)
class Against:
    """Whom all others are compared with, and by which figure."""

    contestant: str
    figure: str


@dataclass(frozen=True)
class Measurement:
    """`name` is what `ONLY=` takes; with `against` the table gets a column of ratios."""

    name: str
    title: str
    measure: Measure
    columns: Sequence[Column]
    against: Against | None = None
