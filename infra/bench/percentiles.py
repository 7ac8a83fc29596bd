"""Percentiles by nearest rank: always a value that was measured."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest of the `ordered` values that so many percent of them do not exceed."""
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]
