"""Our own jobs on the order service's processes: its relay as shipped, its worker with a processor for empty jobs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from bench.lab import Connection, Lab, connect
from bench.processes import Program
from native.probes import heartbeat

from .job_system import PROGRAMS, JobSystem

_DONE = """
    SELECT (payload ->> 'number')::integer AS number, extract(epoch FROM finished_at)::float8 AS at, claims
    FROM job WHERE status = 'done'
"""


class FencepostJobs(JobSystem):
    """Enqueued in a transaction, relayed, claimed, run, completed: see `programs/fenced_jobs.py`.

    With `fenced` its one step also makes one transaction with the fence in it.
    """

    name: ClassVar[str] = "fencepost"
    fenced: ClassVar[bool] = False

    def __init__(self, lab: Lab) -> None:
        super().__init__(lab)
        self._admin: Connection | None = None

    async def prepare(self) -> None:
        await self.lab.empty_broker()
        admin = await self._connection()
        await admin.execute("TRUNCATE job, outbox, outbox_queue RESTART IDENTITY")

    def processes(self) -> Sequence[Program]:
        relay, worker = self.of_the_suite("order-relay"), self.of_the_suite("order-worker")
        program = (sys.executable, str(PROGRAMS / "fenced_jobs.py"), "worker")
        return [
            self._with_heartbeat(relay, "relay"),
            self._with_heartbeat(replace(worker, argv=program), "worker", FENCED=str(self.fenced)),
        ]

    def enqueuer(self) -> Program:
        program = (sys.executable, str(PROGRAMS / "fenced_jobs.py"), "enqueue")
        return replace(self.of_the_suite("order-api"), argv=program)

    async def count_done(self) -> int:
        admin = await self._connection()
        count: int = await admin.fetchval("SELECT count(*) FROM job WHERE status = 'done'")
        return count

    async def done(self) -> Mapping[int, Sequence[float]]:
        admin = await self._connection()
        return {number: [at] * claims for number, at, claims in await admin.fetch(_DONE)}

    async def statements(self) -> float | None:
        return await self.lab.count_statements("order_db")

    async def finish(self) -> None:
        await self.prepare()

    async def close(self) -> None:
        if self._admin is not None:
            await self._admin.close()

    def _with_heartbeat(self, program: Program, kind: str, **more: str) -> Program:
        beat = self.lab.settings.logs / f"jobs-{kind}.health"
        return replace(program, env={**program.env, "HEALTH_FILE": str(beat), **more}, ready=heartbeat(beat))

    async def _connection(self) -> Connection:
        if self._admin is None:
            self._admin = await connect(self.lab.superuser("order_db"))
        return self._admin


class FencedStepJobs(FencepostJobs):
    """With a step that writes, which is what the fence is for."""

    name: ClassVar[str] = "fencepost, 1 transaction"
    fenced: ClassVar[bool] = True
