"""What is aimed at, as ratios within one run; reported as met or missed, never asserted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .measurements import relay_drain
from .results import Results

OURS = "fencepost"
HAND_TUNED = "hand-tuned"


@dataclass(frozen=True)
class Target:
    """A figure of a run and the bound that it is to keep."""

    text: str
    figure: Callable[[Results], float | None]
    bound: float
    at_least: bool = True

    def verdict(self, results: Results) -> tuple[str, float | None]:
        """`met`, `missed` or `not measured`, and the figure."""
        value = self.figure(results)
        if value is None:
            return "not measured", None
        is_met = value >= self.bound if self.at_least else value <= self.bound
        return ("met" if is_met else "missed"), value


def _drain(ours: str, other: str, figure: str) -> Callable[[Results], float | None]:
    return lambda results: results.ratio(relay_drain.NAME, ours, other, figure)


TARGETS = (
    Target("drain: share of the hand-tuned loop's rate, in total", _drain(OURS, HAND_TUNED, "total"), 0.8),
    Target("drain: share of the hand-tuned loop's rate, steady middle", _drain(OURS, HAND_TUNED, "steady"), 0.8),
    Target("drain: two relays against one, in total", _drain(f"{OURS}, 2 relays", OURS, "total"), 1.0),
)
