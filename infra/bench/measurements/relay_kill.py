"""(e) kill -9 in mid-flow: of the only relay, which is started again at once, or of one of two."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial

from bench.arrivals import TopicReader
from bench.contestants import Contestant, Fencepost, HandTuned
from bench.flow import Flow, flow_through
from bench.lab import Lab
from bench.plan import Plan
from bench.processes import Running
from bench.results import Figures, Results

from .measurement import Column, Measurement
from .rounds import Take, in_rounds

NAME = "relay-kill"

_ROUNDS = 2


async def measure(lab: Lab, contestants: Sequence[Contestant], plan: Plan, results: Results) -> None:
    """Ours alone and as one of two, and the loop tuned by hand."""
    takes = []
    for contestant in contestants:
        if isinstance(contestant, Fencepost | HandTuned):
            takes.append(Take(contestant.name, partial(_kill, lab, contestant, 1, plan.flow_seconds), _ROUNDS))
        if isinstance(contestant, Fencepost):
            one_of_two = partial(_kill, lab, contestant, 2, plan.flow_seconds)
            takes.append(Take(f"{contestant.name}, one of two", one_of_two, _ROUNDS))
    await in_rounds(NAME, takes, plan, results, shown=["next_row_seconds", "longest_wait_seconds"])


MEASUREMENT = Measurement(
    NAME,
    "After kill -9 in a steady flow, seconds",
    measure,
    [
        Column("next row sent after", "next_row_seconds", 2),
        Column("longest wait of a row", "longest_wait_seconds", 2),
        Column("twice", "duplicates"),
        Column("lost", "lost", of="worst"),
        Column("out of order", "out_of_order", of="worst"),
    ],
)


async def _kill(lab: Lab, contestant: Contestant, count: int, seconds: float) -> Figures:
    source = lab.make_topic()
    reader = TopicReader(lab.kafka, source)
    killed_at = 0.0
    await contestant.prepare()
    relays = [_start(lab, contestant, source, number) for number in range(1, count + 1)]

    async def kill() -> None:
        nonlocal killed_at
        await asyncio.sleep(seconds * 0.4)
        killed_at = time.monotonic()
        relays[0].kill()
        if count == 1:
            relays.append(_start(lab, contestant, source, 1))

    try:
        flow = await flow_through(lab, contestant, source, relays, seconds=seconds, meanwhile=kill)
        arrivals = await asyncio.to_thread(reader.read)
    finally:
        reader.close()
        for relay in relays:
            relay.stop()
        lab.drop_topic(source)
        await contestant.finish()
    return {
        "next_row_seconds": next_row(flow, killed_at),
        "longest_wait_seconds": flow.waits()[-1],
        "lost": arrivals.lost(len(flow.committed)),
        "out_of_order": arrivals.out_of_order,
        "duplicates": arrivals.duplicates,
    }


def _start(lab: Lab, contestant: Contestant, source: str, number: int) -> Running:
    return Running(contestant.program(source, number), lab.log_of(f"{contestant.name}-{number}"))


def next_row(flow: Flow, killed_at: float) -> float | None:
    """From the kill until a row was visible that was committed after it: nothing that was on its way before."""
    after = [at for seq, at in flow.visible.items() if flow.committed[seq] > killed_at]
    return min(after) - killed_at if after else None
