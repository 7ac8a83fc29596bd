"""(f) Jobs that do nothing, from the enqueuing transaction to done: jobs a second, and how long one takes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from bench.contestants import Contestant
from bench.costs import Costs
from bench.enqueuing import Orders
from bench.flow import Talker
from bench.job_systems import JOB_SYSTEMS, JobSystem, PlainCelery
from bench.lab import Lab
from bench.percentiles import percentile
from bench.plan import Plan
from bench.processes import Running, tree_cpu_seconds
from bench.results import Figures, Results
from bench.waiting import Unfinished, until

from .measurement import Against, Column, Measurement
from .rounds import Take, in_rounds

NAME = "jobs"
RATE = 50

_WARM_UP_JOBS = 100
_AT_ONCE = 4
_START_SECONDS = 120.0
_DONE_SECONDS = 180.0


async def measure(lab: Lab, contestants: Sequence[Contestant], plan: Plan, results: Results) -> None:
    """All takes, in rounds. Relays alone have nothing to do here."""
    del contestants
    systems = []
    for system in (kind(lab) for kind in JOB_SYSTEMS if not plan.only or kind.name in plan.only):
        if reason := system.missing():
            results.leave_out(NAME, system.name, reason)
        else:
            systems.append(system)
    try:
        await in_rounds(NAME, takes(lab, systems, plan), plan, results, shown=["rate", "p50_ms", "p99_ms"])
    finally:
        for system in systems:
            await system.close()


def takes(lab: Lab, systems: Sequence[JobSystem], plan: Plan) -> list[Take]:
    """Each as fast as it goes, then at a steady rate that leaves it idle most of the time."""
    fast = Orders(_WARM_UP_JOBS, plan.jobs, rate=0, at_once=_AT_ONCE)
    steady = replace(fast, jobs=int(plan.flow_seconds * RATE), rate=RATE)
    return [Take(system.name, partial(_rate_and_latency, lab, system, fast, steady)) for system in systems]


MEASUREMENT = Measurement(
    NAME,
    f"Jobs that do nothing: as fast as they go; from enqueued to done at {RATE} a second",
    measure,
    [
        Column("enqueued/s", "enqueued"),
        Column("done/s", "rate"),
        Column("cpu s", "cpu_relays", 1),
        Column("postgres", "cpu_postgres", 1),
        Column("valkey", "cpu_valkey", 1),
        Column("SQL/job", "statements", 1),
        Column("p50 ms", "p50_ms", 1),
        Column("p99 ms", "p99_ms", 1),
        Column("lost", "lost", of="worst"),
        Column("twice", "twice", of="worst"),
    ],
    against=Against(PlainCelery.name, "rate"),
)


@dataclass(frozen=True)
class _Seen:
    """What was seen of the jobs of one take; times are in seconds since the epoch."""

    begun: Mapping[int, float]
    enqueued: Mapping[int, float]
    done: Mapping[int, Sequence[float]]
    spent: Mapping[str, float | None]

    def lost_and_twice(self) -> Figures:
        runs = {number: len(self.done.get(number, ())) for number in self.enqueued}
        return {
            "lost": sum(count == 0 for count in runs.values()),
            "twice": sum(max(0, count - 1) for count in runs.values()),
        }


async def _rate_and_latency(lab: Lab, system: JobSystem, fast: Orders, steady: Orders) -> Figures:
    rate, latency = await _rate(lab, system, fast), await _latency(lab, system, steady)
    lost_and_twice = {name: (rate[name] or 0) + (latency[name] or 0) for name in ("lost", "twice")}
    return {**rate, **latency, **lost_and_twice}


async def _rate(lab: Lab, system: JobSystem, orders: Orders) -> Figures:
    seen = await _through(lab, system, orders)
    began = min(seen.begun.values())
    last = max(max(seen.done[number]) for number in seen.enqueued if number in seen.done)
    return {
        "enqueued": orders.jobs / (max(seen.enqueued.values()) - began),
        "rate": orders.jobs / (last - began),
        **seen.spent,
        **seen.lost_and_twice(),
    }


async def _latency(lab: Lab, system: JobSystem, orders: Orders) -> Figures:
    """From the end of what enqueues until the job is done (in Celery's case: until its task has run)."""
    seen = await _through(lab, system, orders)
    waits = sorted(min(seen.done[number]) - at for number, at in seen.enqueued.items() if number in seen.done)
    return {
        "p50_ms": percentile(waits, 50) * 1000,
        "p95_ms": percentile(waits, 95) * 1000,
        "p99_ms": percentile(waits, 99) * 1000,
        **seen.lost_and_twice(),
    }


async def _through(lab: Lab, system: JobSystem, orders: Orders) -> _Seen:
    """Enqueue jobs while the system's processes run, after a warm-up; until all are done or nothing more happens."""

    async def are_done(jobs: int) -> bool:
        return await system.count_done() >= jobs

    await system.prepare()
    running: list[Running] = []
    enqueuer: Talker | None = None
    try:
        for number, program in enumerate(system.processes(), start=1):
            running.append(Running(program, lab.log_of(f"jobs-{system.name.partition(',')[0]}-{number}")))
        await until(lambda: _ready(running), "the workers are ready", within=_START_SECONDS, while_alive=running)
        program = system.enqueuer()
        enqueuer = await Talker.of(replace(program, env={**program.env, "ENQUEUE": json.dumps(asdict(orders))}))
        await enqueuer.hear()
        await until(lambda: are_done(orders.warm_ups), "the warm-up is done", within=_DONE_SECONDS, while_alive=running)
        await lab.checkpoint()
        statements, valkey = await system.statements(), tree_cpu_seconds(lab.stack.pid("valkey"))
        costs = Costs.now(lab, running)
        enqueuer.say()
        enqueued = json.loads(await enqueuer.hear())
        with contextlib.suppress(Unfinished):  # what is missing then, counts as lost
            await until(
                lambda: are_done(orders.warm_ups + orders.jobs),
                "all jobs are done",
                within=_DONE_SECONDS,
                every=0.1,
                while_alive=running,
            )
        spent: dict[str, float | None] = dict(costs.until_now(lab, running))
        spent["cpu_valkey"] = tree_cpu_seconds(lab.stack.pid("valkey")) - valkey
        statements_now = await system.statements()
        if statements is not None and statements_now is not None:
            spent["statements"] = (statements_now - statements) / orders.jobs
        done = await system.done()
    finally:
        if enqueuer is not None:
            await enqueuer.end()
        for process in reversed(running):
            process.stop()
        await system.finish()
    return _Seen(
        begun={number: begun for number, begun, _ in enqueued},
        enqueued={number: at for number, _, at in enqueued},
        done=done,
        spent=spent,
    )


async def _ready(running: Sequence[Running]) -> bool:
    return all(process.is_ready for process in running)
