"""(d) What a relay costs that has nothing to do: statements a second, processor, memory. All of them side by side."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from bench.contestants import Contestant
from bench.lab import Connection, Lab, connect
from bench.plan import Plan
from bench.processes import Running
from bench.results import Results
from bench.waiting import until

from .measurement import Column, Measurement

NAME = "relay-idle"

_SETTLE_SECONDS = 8.0
_START_SECONDS = 180.0

_STATEMENTS = """
    SELECT d.datname, coalesce(sum(s.calls), 0)::float8
    FROM pg_database d LEFT JOIN pg_stat_statements s ON s.dbid = d.oid
    GROUP BY d.datname
"""
_TRANSACTIONS = "SELECT datname, (xact_commit + xact_rollback)::float8 FROM pg_stat_database WHERE datname IS NOT NULL"


async def measure(lab: Lab, contestants: Sequence[Contestant], plan: Plan, results: Results) -> None:
    """Every contestant has a database of its own, so their statements can be told apart in one go."""
    admin = await connect(lab.superuser())
    counted = await _count_query(admin, plan)
    sources = {contestant: lab.make_topic() for contestant in contestants}
    relays: dict[Contestant, Running] = {}
    try:
        for contestant, source in sources.items():
            await contestant.prepare()
            log = lab.log_of(f"{contestant.name}-1")
            relays[contestant] = Running(contestant.program(source, 1), log)
        await _started(admin, relays)
        await asyncio.sleep(_SETTLE_SECONDS)
        statements, used, began = await _counts(admin, counted), _used(relays), time.monotonic()
        await asyncio.sleep(plan.idle_seconds)
        seconds = time.monotonic() - began
        statements_now, used_now = await _counts(admin, counted), _used(relays)
        for contestant, relay in relays.items():
            relay.check()
            database = contestant.database
            figures = {
                "statements_a_second": (statements_now[database] - statements[database]) / seconds,
                "cpu_percent": (used_now[contestant] - used[contestant]) / seconds * 100,
                "memory_megabytes": relay.resident_bytes() / 2**20,
            }
            results.add(NAME, contestant.name, figures)
            plan.say(f"{NAME}  {contestant.name}: {figures['statements_a_second']:.1f} statements/s")
    finally:
        for relay in relays.values():
            relay.stop()
        for contestant, source in sources.items():
            await contestant.finish()
            lab.drop_topic(source)
        await admin.close()


MEASUREMENT = Measurement(
    NAME,
    "Idle, nothing pending",
    measure,
    [
        Column("statements a second", "statements_a_second", 1),
        Column("cpu % of a core", "cpu_percent", 2),
        Column("memory MB", "memory_megabytes"),
    ],
)


async def _count_query(admin: Connection, plan: Plan) -> str:
    """Statements, where the server can count them; else transactions, which are fewer."""
    if await admin.fetchval("SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'"):
        await admin.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        return _STATEMENTS
    plan.say(f"{NAME}  this server has no pg_stat_statements: what is counted are transactions")
    return _TRANSACTIONS


async def _counts(admin: Connection, query: str) -> Mapping[str, float]:
    return {database: float(count) for database, count in await admin.fetch(query)}


def _used(relays: Mapping[Contestant, Running]) -> Mapping[Contestant, float]:
    return {contestant: relay.cpu_seconds() for contestant, relay in relays.items()}


async def _started(admin: Connection, relays: Mapping[Contestant, Running]) -> None:
    """Wait until each relay is ready, or at least has a connection that is not the bench's own."""

    async def all_started() -> bool:
        found = await admin.fetch("SELECT datname, count(*) FROM pg_stat_activity GROUP BY datname")
        there = {database: int(count) for database, count in found}
        for contestant, relay in relays.items():
            if not relay.is_ready or not await contestant.is_ready() or there.get(contestant.database, 0) < 2:
                return False
        return True

    await until(all_started, "all relays have started", within=_START_SECONDS, while_alive=list(relays.values()))
