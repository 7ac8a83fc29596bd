"""(a) Draining a backlog: rows committed before, brought to Kafka and marked, in rows a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.arrivals import TopicReader
from bench.contestants import Contestant, Fencepost
from bench.costs import Costs
from bench.lab import Lab
from bench.limits import PRODUCER_ALONE, UPDATE_ALONE, producer_alone, update_alone
from bench.plan import Plan
from bench.processes import Running
from bench.results import Figures, Results
from bench.waiting import until
from bench.workload import Row, rows, warm_up_rows

from .measurement import Against, Column, Measurement
from .rounds import Take, in_rounds

NAME = "relay-drain"

_LIMIT_ROWS = 50_000
_WARM_UP_ROWS = 200  # show that a relay is at work
_START_SECONDS = 120.0
_DRAIN_SECONDS = 300.0


async def measure(lab: Lab, contestants: Sequence[Contestant], plan: Plan, results: Results) -> None:
    """All takes, in rounds."""
    # The broker's Java is slow until it has compiled what is hot, and the first to fill the disk's files pays for all.
    for warm_up in (producer_alone, producer_alone, update_alone):
        await warm_up(lab, _limit_rows(plan))
    await in_rounds(NAME, takes(lab, contestants, plan), plan, results, shown=["total", "steady"])


def takes(lab: Lab, contestants: Sequence[Contestant], plan: Plan) -> list[Take]:
    """The limits, then every way of draining."""
    limit_rows = _limit_rows(plan)

    def limit(name: str, rate: Callable[[Lab, Sequence[Row]], Awaitable[float]]) -> Take:
        async def measured() -> Figures:
            return {"rows": len(limit_rows), "total": await rate(lab, limit_rows)}

        return Take(name, measured)

    drains = [
        Take(drain.name, partial(drain.take, lab), drain.contestant.rounds) for drain in _drains(contestants, plan)
    ]
    return [limit(PRODUCER_ALONE, producer_alone), limit(UPDATE_ALONE, update_alone), *drains]


MEASUREMENT = Measurement(
    NAME,
    "Draining a backlog, rows a second",
    measure,
    [
        Column("rows", "rows"),
        Column("total", "total"),
        Column("steady middle", "steady"),
        Column("cpu s: relay", "cpu_relays", 1),
        Column("postgres", "cpu_postgres", 1),
        Column("lost", "lost", of="worst"),
        Column("out of order", "out_of_order", of="worst"),
        Column("twice", "duplicates", of="worst"),
    ],
    against=Against("hand-tuned", "total"),
)


def _limit_rows(plan: Plan) -> list[Row]:
    return rows(min(plan.rows, _LIMIT_ROWS))


def _drains(contestants: Sequence[Contestant], plan: Plan) -> list[Drain]:
    """Those that are compared with each other stand beside each other."""
    share = {
        contestant: rows(min(plan.rows, int(contestant.most_rows * plan.slow_share))) for contestant in contestants
    }
    drains = [Drain(contestant, share[contestant]) for contestant in contestants]
    for contestant in contestants:
        drains += [Drain(contestant, share[contestant], relays=relays) for relays in contestant.more_relays]
    drains += [Drain(contestant, share[contestant], cold=True) for contestant in contestants if contestant.also_cold]
    if plan.sent:
        aged = [contestant for contestant in contestants if isinstance(contestant, Fencepost)]
        drains += [Drain(contestant, share[contestant], sent=plan.sent) for contestant in aged]
    return drains


@dataclass(frozen=True)
class Drain:
    """One way of draining `rows`: by so many relays, started before (`cold` is False) or with the clock."""

    contestant: Contestant
    rows: Sequence[Row]
    relays: int = 1
    cold: bool = False
    sent: int = 0

    @property
    def name(self) -> str:
        name = self.contestant.name if self.relays == 1 else f"{self.contestant.name}, {self.relays} relays"
        if self.sent:
            name += f", {self.sent:,} sent before"
        return f"{name}, cold" if self.cold else name

    @property
    def _warm_ups(self) -> int:
        if self.cold:
            return _WARM_UP_ROWS
        return min(self.contestant.warm_up_rows, max(_WARM_UP_ROWS, len(self.rows)))

    async def take(self, lab: Lab) -> Figures:
        """Drain once.

        A relay that runs already is held still (SIGSTOP) while the rows are committed, and let go with the clock; a
        cold one is stopped before and started with the clock.
        """
        source = lab.make_topic()
        reader = TopicReader(lab.kafka, source)
        relays: list[Running] = []
        try:
            await self.contestant.prepare()
            relays += self._start(lab, source)
            await self._warm_up(source, reader, relays)
            for relay in relays:
                relay.stop() if self.cold else relay.pause()
            if self.sent:
                assert isinstance(self.contestant, Fencepost)
                await self.contestant.multiply_sent(self.sent)
            await self.contestant.commit(source, self.rows)
            await self.contestant.settle()
            costs = Costs.now(lab, relays)
            began, began_at = time.monotonic(), time.time()
            if self.cold:
                relays[:] = self._start(lab, source)
            for relay in relays:
                relay.resume()
            await self._drained(reader, relays)
            seconds = time.monotonic() - began
            spent = costs.until_now(lab, relays)
            for relay in relays:
                relay.stop()
            arrivals = await asyncio.to_thread(reader.read)
        finally:
            for relay in relays:
                relay.stop()
            reader.close()
            lab.drop_topic(source)
            await self.contestant.finish()
        return {
            "rows": len(self.rows),
            "seconds": seconds,
            "total": len(self.rows) / seconds,
            "steady": arrivals.steady_rate(),
            "first_after_seconds": min(arrivals.first.values()) - began_at,
            "lost": arrivals.lost(len(self.rows)),
            "out_of_order": arrivals.out_of_order,
            "duplicates": arrivals.duplicates,
            **spent,
        }

    def _start(self, lab: Lab, source: str) -> list[Running]:
        return [
            Running(self.contestant.program(source, number), lab.log_of(f"{self.contestant.name}-{number}"))
            for number in range(1, self.relays + 1)
        ]

    async def _warm_up(self, source: str, reader: TopicReader, relays: Sequence[Running]) -> None:
        async def ready() -> bool:
            return all(relay.is_ready for relay in relays) and await self.contestant.is_ready()

        await until(ready, "the relay is ready", within=_START_SECONDS, while_alive=relays)
        await self.contestant.commit(source, warm_up_rows(self._warm_ups))

        async def through() -> bool:
            return reader.count() >= self._warm_ups and not await self.contestant.has_pending()

        await until(through, "the warm-up rows are through", within=_START_SECONDS, while_alive=relays)

    async def _drained(self, reader: TopicReader, relays: Sequence[Running]) -> None:
        async def drained() -> bool:
            return reader.count() >= self._warm_ups + len(self.rows) and not await self.contestant.has_pending()

        await until(drained, f"{len(self.rows)} rows are drained", within=_DRAIN_SECONDS, while_alive=relays)
