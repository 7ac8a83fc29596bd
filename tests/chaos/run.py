"""One run: shopping in a storm, then the calm, then the judge."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from demo.clients import Clients
from demo.evidence import gather
from demo.purchases import read_purchases
from demo.run import Run
from demo.settlement import Settlement, StoodStill
from demo.suite import Suite
from world.bus import Bus
from world.databases import Databases
from world.waiting import eventually

from .blows import schedule
from .evidence import gather_evidence, unfinished
from .ground import Ground
from .history import history
from .judge import Objection, judge
from .shopping import shop
from .storm import Storm, Struck

_PATIENCE_SECONDS = 180.0
_STANDSTILL_SECONDS = 240.0
_REST_SECONDS = 240.0
_HISTORIES = 3


@dataclass(frozen=True)
class Verdict:
    """What the judge says of a run."""

    seed: int
    orders: int
    struck: Sequence[Struck]
    objections: Sequence[Objection]
    histories: Sequence[Sequence[str]] = ()

    @property
    def stands(self) -> bool:
        """Nothing was objected to."""
        return not self.objections

    def __str__(self) -> str:
        dealt = [one for one in self.struck if one.missed is None]
        head = f"seed {self.seed}: {self.orders} orders, {len(dealt)} faults ({len(self.struck) - len(dealt)} missed)"
        if self.stands:
            return f"{head}: every order has one outcome, all agrees, nothing is left to do"
        lines = [f"{head}: {len(self.objections)} objections", *(f"  {one.text}" for one in self.objections[:20])]
        for about in self.histories:
            lines += ["", *about]
        return "\n".join(lines)


async def run_chaos(
    ground: Ground,
    *,
    seed: int,
    duration: float,
    a_second: float,
    told: Callable[[str], None] = lambda _: None,
) -> Verdict:
    """Shop for `duration` seconds in the storm of `seed`, wait until all has settled, and judge."""
    stack = ground.stack
    suite = Suite(port_base=stack.port_base, state_dir=stack.layout.state)
    storm = Storm(ground, seed=seed, told=lambda one: told(str(one)))
    databases, bus = Databases(stack), Bus(stack.topology.kafka_address)
    objections: list[Objection] = []
    async with Clients(suite, patience=_PATIENCE_SECONDS) as clients:
        try:
            run = Run()
            async with asyncio.TaskGroup() as both:
                shopping = both.create_task(shop(clients, run, read_purchases(), seconds=duration, a_second=a_second))
                both.create_task(storm.rage(schedule(seed, duration, ground.targets)))
            purchases, answers = shopping.result()
            told(f"{len(answers)} orders are placed, the storm is over")
            settlement = Settlement(clients, [one.order_id for one in answers if one.order_id], look_every=1.0)
            try:
                await settlement.wait(
                    standstill=_STANDSTILL_SECONDS, report=lambda done, total: told(f"{done} of {total} have settled")
                )
            except StoodStill as still:
                objections.append(Objection(str(still)))
            left = await _at_rest(databases)
            records = await gather(clients, run, purchases, answers)
            objections += judge(records, await gather_evidence(databases, bus, left))
        finally:
            await databases.close()
    histories = [history(stack.layout.logs, one.about, storm.struck) for one in objections if one.about][:_HISTORIES]
    return Verdict(seed, len(answers), storm.struck, objections, histories)


async def _at_rest(databases: Databases) -> Mapping[str, int]:
    """Wait until no work is left, for a while; what the last look still saw, the judge will name."""
    left: Mapping[str, int] = {}

    async def nothing() -> bool:
        nonlocal left
        left = await unfinished(databases)
        return not any(left.values())

    with contextlib.suppress(AssertionError):
        await eventually(nothing, what="nothing is left to do", within=_REST_SECONDS)
    return left
