"""(a) Draining a backlog: rows committed before, brought to Kafka and marked, in rows a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bench.arrivals import TopicReader
from bench.contestants import Contestant, Fencepost
from bench.costs import Costs
from bench.lab import Lab
from bench.limits import PRODUCER_ALONE, UPDATE_ALONE, producer_alone, update_alone
from bench.plan import Plan
from bench.processes import ProcessEnded, Running
from bench.results import Figures, Results
from bench.workload import Row, rows, warm_up_rows

NAME = "relay-drain"

_LIMIT_ROWS = 50_000
_WARM_UP_ROWS = 200
_START_SECONDS = 120.0
_DRAIN_SECONDS = 300.0
_LOOK_EVERY_SECONDS = 0.03


class Unfinished(Exception):
    """A contestant did not do in time what it was to do."""


async def measure(lab: Lab, contestants: Sequence[Contestant], plan: Plan, results: Results) -> None:
    """All drains of the plan, one round after the other, so that a noisy minute falls on everybody."""
    # The broker's Java is slow until it has compiled what is hot, and the first to fill the disk's files pays for all.
    for warm_up in (producer_alone, producer_alone, update_alone):
        await warm_up(lab, rows(min(plan.rows, _LIMIT_ROWS)))
    drains = _drains(contestants, plan)
    for number in range(1, plan.repeats + 1):
        for limit, rate in ((PRODUCER_ALONE, producer_alone), (UPDATE_ALONE, update_alone)):
            total = await rate(lab, rows(min(plan.rows, _LIMIT_ROWS)))
            results.add(NAME, limit, {"total": total}, of_round=number)
            plan.say(f"{NAME} {number}/{plan.repeats}  {limit}: {total:,.0f} rows/s")
        # Every other round backwards: a machine that gets slower favours nobody.
        for drain in drains if number % 2 else reversed(drains):
            try:
                figures = await drain.measure(lab)
            except (Unfinished, ProcessEnded) as error:
                results.leave_out(NAME, drain.name, str(error))
                plan.say(f"{NAME} {number}/{plan.repeats}  {drain.name}: {error}")
                continue
            results.add(NAME, drain.name, figures, of_round=number)
            plan.say(
                f"{NAME} {number}/{plan.repeats}  {drain.name}: {figures['total']:,.0f} rows/s, "
                f"{figures['steady'] or 0:,.0f} in the steady middle"
            )


def _drains(contestants: Sequence[Contestant], plan: Plan) -> list[Drain]:
    """Those that are compared with each other stand beside each other."""
    share = {contestant: rows(min(plan.rows, contestant.most_rows)) for contestant in contestants}
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

    async def measure(self, lab: Lab) -> Figures:
        """Drain once.

        A relay that runs already is held still (SIGSTOP) while the rows are committed, and let go with the clock.
        """
        source = lab.make_topic()
        reader = TopicReader(lab.kafka, source)
        relays: list[Running] = []
        try:
            await self.contestant.prepare()
            if self.cold:
                await self._commit(source)
                began = time.monotonic()
                costs = Costs.now(lab, [])
                relays += self._start(lab, source)
            else:
                relays += self._start(lab, source)
                await self._warm_up(source, reader, relays)
                for relay in relays:
                    relay.pause()
                if self.sent:
                    assert isinstance(self.contestant, Fencepost)
                    await self.contestant.multiply_sent(self.sent)
                await self._commit(source)
                costs = Costs.now(lab, relays)
                began = time.monotonic()
                for relay in relays:
                    relay.resume()
            began_at = time.time() - (time.monotonic() - began)
            await self._drained(reader, relays, warm_ups=0 if self.cold else _WARM_UP_ROWS)
            seconds = time.monotonic() - began
            spent = costs.until_now(lab, relays)
        finally:
            for relay in relays:
                relay.stop()
        try:
            arrivals = await asyncio.to_thread(reader.read)
        finally:
            reader.close()
            lab.drop_topic(source)
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

    async def _commit(self, source: str) -> None:
        await self.contestant.commit(source, self.rows)
        await self.contestant.settle()

    async def _warm_up(self, source: str, reader: TopicReader, relays: Sequence[Running]) -> None:
        async def ready() -> bool:
            return all(relay.is_ready for relay in relays)

        await _until(ready, relays, "the relay is ready", within=_START_SECONDS)
        await self.contestant.commit(source, warm_up_rows(_WARM_UP_ROWS))

        async def through() -> bool:
            return reader.count() >= _WARM_UP_ROWS and not await self.contestant.has_pending()

        await _until(through, relays, "the warm-up rows are through", within=_START_SECONDS)

    async def _drained(self, reader: TopicReader, relays: Sequence[Running], *, warm_ups: int) -> None:
        async def drained() -> bool:
            return reader.count() >= warm_ups + len(self.rows) and not await self.contestant.has_pending()

        await _until(drained, relays, f"{len(self.rows)} rows are drained", within=_DRAIN_SECONDS)


async def _until(holds: Callable[[], Awaitable[bool]], relays: Sequence[Running], what: str, *, within: float) -> None:
    deadline = time.monotonic() + within
    while not await holds():
        for relay in relays:
            relay.check()
        if time.monotonic() > deadline:
            raise Unfinished(f"not within {within:.0f} s: {what}")
        await asyncio.sleep(_LOOK_EVERY_SECONDS)
