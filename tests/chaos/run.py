"""One run: shopping in a storm, then the calm, then the judge."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

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
from .evidence import correlations, gather_evidence, unfinished
from .ground import Ground
from .history import history
from .judge import Objection, judge
from .mailbox import seen_once
from .outcomes import judge_outcomes, tally
from .regrets import regret, wishes
from .shopping import shop
from .storm import Storm, Struck

_PATIENCE_SECONDS = 180.0
_STANDSTILL_SECONDS = 240.0
_REST_SECONDS = 240.0
_HISTORIES = 3
_SHOWN = 40
_ORDERS_A_REGRET = 4.0


@dataclass(frozen=True)
class Verdict:
    """What the judge says of a run; `regretted` counts the orders that their customers cancelled, by their ends."""

    seed: int
    orders: int
    regretted: Counter[str]
    struck: Sequence[Struck]
    objections: Sequence[Objection]
    histories: Sequence[Sequence[str]] = ()

    @property
    def stands(self) -> bool:
        """Nothing was objected to."""
        return not self.objections

    def __str__(self) -> str:
        dealt = [one for one in self.struck if one.missed is None]
        ends = ", ".join(f"{count} {end}" for end, count in sorted(self.regretted.items()))
        head = (
            f"seed {self.seed}: {self.orders} orders ({sum(self.regretted.values())} regretted: {ends}), "
            f"{len(dealt)} faults ({len(self.struck) - len(dealt)} missed)"
        )
        if self.stands:
            return f"{head}: every order has one outcome, all agrees, nothing is left to do"
        lines = [f"{head}: {len(self.objections)} objections", *(f"  {one.text}" for one in self.objections[:_SHOWN])]
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
    """Shop for `duration` seconds in the storm of `seed`, wait until all has settled, and judge.

    Beside `a_second` customers who want what they order come a quarter as many who cancel it.
    """
    stack = ground.stack
    suite = Suite(port_base=stack.port_base, state_dir=stack.layout.state)
    storm = Storm(ground, seed=seed, told=lambda one: told(str(one)))
    databases, bus = Databases(stack), Bus(stack.topology.kafka_address)
    objections: list[Objection] = []
    async with Clients(suite, patience=_PATIENCE_SECONDS) as clients:
        try:
            run, file = Run(), read_purchases()
            second_run = Run(f"{run.id}-regrets")
            async with asyncio.TaskGroup() as all_of_them:
                shopping = all_of_them.create_task(shop(clients, run, file, seconds=duration, a_second=a_second))
                regretting = all_of_them.create_task(
                    regret(
                        clients,
                        second_run,
                        wishes(seed, file),
                        seconds=duration,
                        a_second=a_second / _ORDERS_A_REGRET,
                    )
                )
                all_of_them.create_task(storm.rage(schedule(seed, duration, ground.targets)))
            purchases, answers = shopping.result()
            regrets = regretting.result()
            placed = [*answers, *(one.placed for one in regrets)]
            told(f"{len(placed)} orders are placed, {len(regrets)} of them to be cancelled, the storm is over")
            settlement = Settlement(clients, [one.order_id for one in placed if one.order_id], look_every=1.0)
            try:
                await settlement.wait(
                    standstill=_STANDSTILL_SECONDS, report=lambda done, total: told(f"{done} of {total} have settled")
                )
            except StoodStill as still:
                objections.append(Objection(str(still)))
            left = await _at_rest(databases)
            records = await gather(clients, run, purchases, answers)
            regretted = await gather(
                clients, second_run, [one.purchase for one in regrets], [one.placed for one in regrets]
            )
            records, regretted = (replace(each, mails=seen_once(each.mails)) for each in (records, regretted))
            evidence = await gather_evidence(databases, bus, left)
            objections += judge(records, evidence)
            objections += judge_outcomes(regretted, regrets)
        finally:
            await databases.close()
    histories = [
        [
            f"what was logged about {', '.join(about)}:",
            *history(stack.layout.logs, [*about, *correlations(about, evidence.said)], storm.struck),
        ]
        for about in islice(_stories(objections), _HISTORIES)
    ]
    return Verdict(seed, len(placed), tally(regretted), storm.struck, objections, histories)


def _stories(objections: Sequence[Objection]) -> Iterator[Sequence[str]]:
    """What to tell the history of: two objections to one thing have one."""
    told: set[str] = set()
    for one in objections:
        if one.about and told.isdisjoint(one.about):
            told.update(one.about)
            yield one.about


async def _at_rest(databases: Databases) -> Mapping[str, Sequence[str]]:
    """Wait until no work is left, for a while; what the last look still saw, the judge will name."""
    left: Mapping[str, Sequence[str]] = {}

    async def nothing() -> bool:
        nonlocal left
        left = await unfinished(databases)
        return not any(left.values())

    with contextlib.suppress(AssertionError):
        await eventually(nothing, what="nothing is left to do", within=_REST_SECONDS)
    return left
