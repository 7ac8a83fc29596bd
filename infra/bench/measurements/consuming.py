"""(c) Consuming: a claim in the inbox and one business row a message, messages a second, and from commit to effect."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from bench.contestants import Contestant, Fencepost
from bench.costs import Costs
from bench.effects import Effects
from bench.flow import PROGRAMS, flow_through
from bench.lab import Lab
from bench.percentiles import percentile
from bench.plan import Plan
from bench.processes import Program, Running
from bench.results import Figures, Results
from bench.waiting import until
from bench.workload import PARTITIONS, rows
from native.probes import heartbeat

from .measurement import Against, Column, Measurement
from .rounds import Take, in_rounds

NAME = "consuming"
ENGINE = "engine"
OVER_SESSION = "engine, row over a session"
ONE_PARTITION = "engine, 1 partition"
ONE_AT_A_TIME = "engine, 1 partition, 1 at a time"
BARE = "limit: bare asyncpg"
BARE_ONE = "limit: bare asyncpg, 1 connection"
FROM_COMMIT = "engine, 200 a second"

_SECONDS = 180.0


async def measure(lab: Lab, contestants: Sequence[Contestant], plan: Plan, results: Results) -> None:
    """All takes, in rounds."""
    ours = next((contestant for contestant in contestants if isinstance(contestant, Fencepost)), None)
    if ours is None:
        results.leave_out(NAME, ENGINE, "our own relay is not among the contestants of this run")
        return
    await in_rounds(NAME, takes(lab, ours, plan), plan, results, shown=["rate", "p50_ms", "p99_ms"])


def takes(lab: Lab, ours: Fencepost, plan: Plan) -> list[Take]:
    """The engine on three partitions and on one, one at a time on one, and the same statements without an engine.

    Its business row goes over the transaction's driver, as the limit's does; once over its SQLAlchemy session.
    """
    many, few = plan.messages, max(100, plan.messages // 5)
    return [
        Take(BARE, partial(_bare, lab, many, _connections(lab))),
        Take(BARE_ONE, partial(_bare, lab, few, 1)),
        Take(ENGINE, partial(_engine, lab, ours, many, PARTITIONS)),
        Take(OVER_SESSION, partial(_engine, lab, ours, many, PARTITIONS, write_over="session")),
        Take(ONE_PARTITION, partial(_engine, lab, ours, many, 1)),
        Take(ONE_AT_A_TIME, partial(_engine, lab, ours, few, 1, connections=1)),
        Take(FROM_COMMIT, partial(_from_commit, lab, ours, plan.flow_seconds)),
    ]


MEASUREMENT = Measurement(
    NAME,
    "Consuming: inbox claim and one business row a message; from commit to effect",
    measure,
    [
        Column("pool", "connections"),
        Column("a second", "rate"),
        Column("cpu s: self", "cpu_relays", 1),
        Column("postgres", "cpu_postgres", 1),
        Column("p50 ms", "p50_ms", 1),
        Column("p95 ms", "p95_ms", 1),
        Column("p99 ms", "p99_ms", 1),
        Column("lost", "lost", of="worst"),
        Column("double", "double", of="worst"),
    ],
    against=Against(BARE, "rate"),
)


async def _bare(lab: Lab, messages: int, connections: int) -> Figures:
    effects = Effects(lab)
    told = {"address": asdict(lab.order_app()), "rows": messages, "connections": connections}
    env = {**_consumer(lab).env, "CONSUME_BARE": json.dumps(told)}
    await effects.open()
    process = Running(Program((sys.executable, str(PROGRAMS / "consume_bare.py")), env), lab.log_of("consume-bare"))
    try:
        await _all_in_effect(effects, messages, [])
        return {"connections": connections, "rate": await effects.steady_rate()}
    finally:
        process.stop()
        await effects.close()


async def _engine(
    lab: Lab,
    ours: Fencepost,
    messages: int,
    partitions: int,
    *,
    connections: int | None = None,
    write_over: str = "driver",
) -> Figures:
    source, effects = lab.make_topic(partitions), Effects(lab)
    await effects.open()
    consumer: Running | None = None
    try:
        await _fill(lab, ours, source, messages)
        pool = {"DATABASE_POOL_SIZE": str(connections)} if connections else {}
        consumer = _start(lab, source, WRITE_OVER=write_over, **pool)
        costs = Costs.now(lab, [consumer])
        await _all_in_effect(effects, messages, [consumer])
        spent = costs.until_now(lab, [consumer])
        lost, double = await effects.lost_and_double(messages)
        return {
            "connections": connections or _connections(lab),
            "rate": await effects.steady_rate(),
            "lost": lost,
            "double": double,
            **spent,
        }
    finally:
        if consumer is not None:
            consumer.stop()
        await effects.close()
        lab.drop_topic(source)


async def _from_commit(lab: Lab, ours: Fencepost, seconds: float) -> Figures:
    """The whole way at a steady rate: publisher, relay, Kafka, consumer, effect."""
    source, effects = lab.make_topic(), Effects(lab)
    notes = lab.settings.logs / f"{source}.effects.json"
    await ours.prepare()
    await effects.open()
    relay = Running(ours.program(source, 1), lab.log_of("fencepost-1"))
    consumer = _start(lab, source, NOTES=str(notes))
    try:
        flow = await flow_through(lab, ours, source, [relay, consumer], seconds=seconds)
        await _all_in_effect(effects, len(flow.committed), [consumer])
        lost, double = await effects.lost_and_double(len(flow.committed))
        consumer.stop()
        committed = {seq: at / 1e9 for seq, at in json.loads(notes.read_text(encoding="utf-8"))}
    finally:
        consumer.stop()
        relay.stop()
        await ours.finish()
        await effects.close()
        lab.drop_topic(source)
    waits = sorted(committed[seq] - at for seq, at in flow.committed.items() if seq in committed)
    return {
        "connections": _connections(lab),
        "p50_ms": percentile(waits, 50) * 1000,
        "p95_ms": percentile(waits, 95) * 1000,
        "p99_ms": percentile(waits, 99) * 1000,
        "lost": lost,
        "double": double,
    }


async def _fill(lab: Lab, ours: Fencepost, source: str, messages: int) -> None:
    """Publish, and have our own relay bring it to the topic."""
    await ours.prepare()
    await ours.commit(source, rows(messages))
    relay = Running(ours.program(source, 1), lab.log_of("fencepost-1"))

    async def drained() -> bool:
        return not await ours.has_pending()

    try:
        await until(drained, "the topic is filled", within=_SECONDS, while_alive=[relay])
    finally:
        relay.stop()
        await ours.finish()


async def _all_in_effect(effects: Effects, count: int, processes: Sequence[Running]) -> None:
    async def all_there() -> bool:
        return await effects.count() >= count

    await until(all_there, f"{count} messages took effect", within=_SECONDS, every=0.2, while_alive=processes)


def _start(lab: Lab, source: str, **environment: str) -> Running:
    beat = lab.settings.logs / f"{source}-consumer.health"
    told = {"MEASURED_SOURCE": source, "WRITE_OVER": "driver", "HEALTH_FILE": str(beat)}
    env = {**_consumer(lab).env, **told, **environment}
    program = Program((sys.executable, str(PROGRAMS / "consume.py")), env, ready=heartbeat(beat))
    return Running(program, lab.log_of("consume"))


def _connections(lab: Lab) -> int:
    return int(_consumer(lab).env["DATABASE_POOL_SIZE"])


def _consumer(lab: Lab) -> Program:
    """The environment of the order service's consumer."""
    process = next(p for p in lab.stack.topology.processes() if p.name == "order-consumer")
    return Program(process.argv, process.env)
