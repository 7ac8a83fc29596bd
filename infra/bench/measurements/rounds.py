"""Measuring everybody in rounds, so that a noisy minute falls on all, and one that fails stops nobody."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bench.contestants import ALL_ROUNDS
from bench.plan import Plan
from bench.results import Figures, Results


@dataclass(frozen=True)
class Take:
    """How one contestant is measured, and in how many rounds at most."""

    contestant: str
    measure: Callable[[], Awaitable[Figures]]
    rounds: int = ALL_ROUNDS


async def in_rounds(
    measurement: str, takes: Sequence[Take], plan: Plan, results: Results, *, shown: Sequence[str]
) -> None:
    """Measure all once a round, every other round backwards; `shown` are the figures to tell at once.

    Whoever fails is left out of that round, with the reason.
    """
    for number in range(1, plan.repeats + 1):
        for take in takes if number % 2 else list(reversed(takes)):
            if number > take.rounds:
                continue
            about = f"{measurement} {number}/{min(plan.repeats, take.rounds)}  {take.contestant}"
            try:
                figures = await take.measure()
            except Exception as error:  # noqa: BLE001 - a peer may fail in any way; what is ours shows as left out
                results.leave_out(measurement, take.contestant, str(error) or repr(error))
                plan.say(f"{about}: {error!r}")
                continue
            results.add(measurement, take.contestant, figures, of_round=number)
            told = [f"{name} {value:,.1f}" for name in shown if (value := figures.get(name)) is not None]
            plan.say(f"{about}: {', '.join(told)}")
