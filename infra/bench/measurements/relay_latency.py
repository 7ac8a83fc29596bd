"""(b) From commit to visible in a Kafka consumer, at 200 rows a second."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from bench.contestants import Contestant
from bench.flow import RATE, flow_through
from bench.lab import Lab
from bench.percentiles import percentile
from bench.plan import Plan
from bench.processes import Running
from bench.results import Figures, Results

from .measurement import Column, Measurement
from .rounds import Take, in_rounds

NAME = "relay-latency"


async def measure(lab: Lab, contestants: Sequence[Contestant], plan: Plan, results: Results) -> None:
    """One flow a contestant and round, each through a relay that was started for it."""
    takes = [
        Take(contestant.name, partial(_latency, lab, contestant, plan.flow_seconds), contestant.rounds)
        for contestant in contestants
    ]
    await in_rounds(NAME, takes, plan, results, shown=["p50_ms", "p99_ms", "cpu_relay_percent"])


async def _latency(lab: Lab, contestant: Contestant, seconds: float) -> Figures:
    source = lab.make_topic()
    await contestant.prepare()
    relay = Running(contestant.program(source, 1), lab.log_of(f"{contestant.name}-1"))
    try:
        flow = await flow_through(lab, contestant, source, [relay], seconds=seconds)
    finally:
        relay.stop()
        lab.drop_topic(source)
        await contestant.finish()
    waits = flow.waits()
    return {
        "p50_ms": percentile(waits, 50) * 1000,
        "p95_ms": percentile(waits, 95) * 1000,
        "p99_ms": percentile(waits, 99) * 1000,
        "worst_ms": waits[-1] * 1000,
        "rate": len(flow.committed) / flow.seconds,
        "wanted_rate": RATE,
        "lost": len(flow.committed) - len(waits),
        "commit_p50_ms": percentile(sorted(flow.committed[seq] - flow.begun[seq] for seq in flow.begun), 50) * 1000,
        "cpu_relay_percent": flow.spent["cpu_relays"] / flow.seconds * 100,
        "cpu_postgres_percent": flow.spent["cpu_postgres"] / flow.seconds * 100,
        "cpu_kafka_percent": flow.spent["cpu_kafka"] / flow.seconds * 100,
        "cpu_others_percent": flow.spent["cpu_others"] / flow.seconds * 100,
    }


MEASUREMENT = Measurement(
    NAME,
    f"From commit to visible in Kafka at {RATE} rows a second, milliseconds",
    measure,
    [
        Column("p50", "p50_ms", 1),
        Column("p95", "p95_ms", 1),
        Column("p99", "p99_ms", 1),
        Column("cpu %: relay", "cpu_relay_percent", 1),
        Column("postgres", "cpu_postgres_percent", 1),
        Column("others", "cpu_others_percent", 1),
        Column("rate kept", "rate"),
        Column("lost", "lost", of="worst"),
    ],
)
