"""What a run has measured so far, and the medians of it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

Figures = Mapping[str, float | None]


@dataclass(frozen=True)
class Result:
    """One measuring of one contestant."""

    measurement: str
    contestant: str
    round: int
    figures: Figures


@dataclass
class Results:
    """All of a run. What was left out has a reason, so that no gap goes unseen."""

    measured: list[Result] = field(default_factory=list)
    left_out: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, measurement: str, contestant: str, figures: Figures, *, of_round: int = 1) -> None:
        self.measured.append(Result(measurement, contestant, of_round, figures))

    def leave_out(self, measurement: str, contestant: str, reason: str) -> None:
        self.left_out[measurement, contestant] = reason

    def contestants(self, measurement: str) -> list[str]:
        """Who was measured, in the order of their first measuring."""
        return list(dict.fromkeys(r.contestant for r in self.measured if r.measurement == measurement))

    def values(self, measurement: str, contestant: str, figure: str) -> list[float]:
        """Every value of one figure that there is."""
        return list(self._by_round(measurement, contestant, figure).values())

    def median(self, measurement: str, contestant: str, figure: str) -> float | None:
        """The median over the repetitions; None when there is no value."""
        values = self.values(measurement, contestant, figure)
        return statistics.median(values) if values else None

    def worst(self, measurement: str, contestant: str, figure: str) -> float | None:
        """The largest value over the repetitions: for what must not happen even once."""
        return max(self.values(measurement, contestant, figure), default=None)

    def ratio(self, measurement: str, contestant: str, other: str, figure: str) -> float | None:
        """One contestant as a share of another: the median over the rounds of each round's ratio.

        Within a round, so that a minute in which the machine was slow for both does not count. None when they were
        never measured in one round.
        """
        ours = self._by_round(measurement, contestant, figure)
        theirs = self._by_round(measurement, other, figure)
        ratios = [ours[number] / theirs[number] for number in ours.keys() & theirs.keys() if theirs[number]]
        return statistics.median(ratios) if ratios else None

    def _by_round(self, measurement: str, contestant: str, figure: str) -> dict[int, float]:
        found = {
            result.round: result.figures.get(figure)
            for result in self.measured
            if (result.measurement, result.contestant) == (measurement, contestant)
        }
        return {number: value for number, value in found.items() if value is not None}
