"""What is measured, one file a measurement, in the order of a whole run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from bench.contestants import Contestant
from bench.lab import Lab
from bench.plan import Plan
from bench.results import Results

from . import relay_drain

Measure = Callable[[Lab, Sequence[Contestant], Plan, Results], Awaitable[None]]

MEASUREMENTS: Mapping[str, Measure] = {relay_drain.NAME: relay_drain.measure}

__all__ = ["MEASUREMENTS", "Measure"]
