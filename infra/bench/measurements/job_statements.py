"""(g) What a job's own statements cost, one after another on an idle server: statements, and microseconds each."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from bench.contestants import Contestant
from bench.lab import Lab, connect
from bench.percentiles import percentile
from bench.plan import Plan
from bench.results import Results
from service_platform.database import Database
from service_platform.jobs import JobKind
from service_platform.telemetry import configure_logging

from .measurement import Against, Column, Measurement

NAME = "job-statements"
ROUND_TRIP = "limit: a round trip"
ONE_ROW = "limit: one row updated"
ENQUEUE = "enqueue, a transaction"
CLAIM = "claim"
RENEWAL = "renewal"
FENCE = "fence, a transaction"
COMPLETE = "complete"

_CREATE = """
    DROP TABLE IF EXISTS bench_row;
    CREATE TABLE bench_row (id integer PRIMARY KEY, at timestamptz);
    INSERT INTO bench_row SELECT generate_series(0, {rows});
    GRANT SELECT, UPDATE ON bench_row TO order_app;
"""
_EMPTY = "TRUNCATE job, outbox, outbox_queue RESTART IDENTITY"
_CLAIM = "SELECT * FROM job_claim($1, $2, $3, $4, $5, $6)"
_WARM_UPS = 20  # until every statement is prepared and its plan is kept


class _Nothing(BaseModel):
    model_config = ConfigDict(frozen=True)


_KIND = JobKind(name="order.do-nothing", payload=_Nothing)

_Call = Callable[[int], Awaitable[object]]


async def measure(lab: Lab, contestants: Sequence[Contestant], plan: Plan, results: Results) -> None:
    """The limits and every statement, each for all jobs of a round before the next one."""
    del contestants
    configure_logging("bench", NAME, level="WARNING")  # as in a process of the suite, which prints no line for each job
    for number in range(1, plan.repeats + 1):
        jobs = _Jobs(lab, plan.statements)
        await jobs.prepare()
        try:
            for name, call in jobs.calls().items():
                figures = await jobs.timed(call)
                results.add(NAME, name, figures, of_round=number)
                plan.say(f"{NAME} {number}/{plan.repeats}  {name}: p50 {figures['p50_us']:.0f} µs")
        finally:
            await jobs.close()


MEASUREMENT = Measurement(
    NAME,
    "A job's statements, one after another",
    measure,
    [Column("statements", "statements", 1), Column("p50 µs", "p50_us"), Column("p99 µs", "p99_us")],
    against=Against(ONE_ROW, "p50_us"),
)


class _Jobs:
    """So many jobs, and the statements of one of them, as the order service's own role on one connection."""

    def __init__(self, lab: Lab, jobs: int) -> None:
        self._lab = lab
        self._count = jobs + _WARM_UPS
        self._ids: list[UUID] = []
        self._database = Database(lab.order_app(), application_name="bench job statements", pool_size=1)

    async def prepare(self) -> None:
        await self._as_superuser(_CREATE.format(rows=self._count) + _EMPTY)

    async def close(self) -> None:
        await self._database.close()
        await self._as_superuser("DROP TABLE bench_row;" + _EMPTY)

    def calls(self) -> Mapping[str, _Call]:
        """By name, in the order in which a job needs them."""
        return {
            ROUND_TRIP: lambda _: self._fetch("SELECT 1"),
            ONE_ROW: lambda number: self._fetch("UPDATE bench_row SET at = clock_timestamp() WHERE id = $1", number),
            ENQUEUE: self._enqueue,
            CLAIM: self._claim,
            RENEWAL: lambda number: self._fetch("SELECT job_renew($1, 1, 30)", self._ids[number]),
            FENCE: self._fence,
            COMPLETE: lambda number: self._fetch("SELECT job_complete($1, 1)", self._ids[number]),
        }

    async def timed(self, call: _Call) -> dict[str, float | None]:
        """Every job's call by itself. The first ones do not count: they prepare the statement."""
        for number in range(_WARM_UPS):
            await call(number)
        statements = await self._lab.count_statements("order_db")
        took = []
        for number in range(_WARM_UPS, self._count):
            began = time.perf_counter()
            await call(number)
            took.append(time.perf_counter() - began)
        now = await self._lab.count_statements("order_db")
        took.sort()
        return {
            "statements": None if now is None or statements is None else (now - statements) / len(took),
            "p50_us": percentile(took, 50) * 1e6,
            "p99_us": percentile(took, 99) * 1e6,
        }

    async def _enqueue(self, _: int) -> None:
        async with self._database.transaction() as tx:
            self._ids.append(await _KIND.enqueue(_Nothing(), tx, key=f"bench:{len(self._ids)}"))

    async def _claim(self, number: int) -> None:
        limits = (_KIND.lease_seconds, _KIND.max_claims, _KIND.max_silent_runs)
        async with self._database.autocommit() as driver:
            if not await driver.fetch(_CLAIM, self._ids[number], _KIND.name, "bench", *limits):
                raise RuntimeError(f"job {number} was not claimed: what follows would measure nothing")

    async def _fence(self, number: int) -> None:
        async with self._database.transaction() as tx:
            driver = await tx.driver()
            if not await driver.fetchval("SELECT job_advance($1, 'step', 1, 30)", self._ids[number]):
                raise RuntimeError(f"job {number} is not ours: what follows would measure nothing")

    async def _fetch(self, statement: str, *arguments: object) -> None:
        async with self._database.autocommit() as driver:
            await driver.fetchrow(statement, *arguments)

    async def _as_superuser(self, statements: str) -> None:
        admin = await connect(self._lab.superuser("order_db"))
        try:
            await admin.execute(statements)
        finally:
            await admin.close()
