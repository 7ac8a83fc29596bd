"""procrastinate: jobs in Postgres alone, fetched and finished by its own functions, woken by NOTIFY."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import ClassVar

from bench.lab import Connection, Lab, connect
from bench.peers import PeerMissing
from bench.processes import Program
from native.layout import ROOT

from .job_system import PROGRAMS, JobSystem

_DATABASE = "bench_procrastinate"
_MAKE_TABLES_SECONDS = 180.0
_DONE = """
    SELECT (j.args ->> 'number')::integer AS number, extract(epoch FROM e.at)::float8 AS at
    FROM procrastinate_events e JOIN procrastinate_jobs j ON j.id = e.job_id
    WHERE e.type = 'succeeded'
"""


class Procrastinate(JobSystem):
    """See `programs/procrastinate_jobs.py`. A stalled worker keeps its jobs until somebody's own task resets them."""

    name: ClassVar[str] = "procrastinate"

    def __init__(self, lab: Lab) -> None:
        super().__init__(lab)
        self._admin: Connection | None = None

    def missing(self) -> str | None:
        try:
            self.lab.peers.python()
        except PeerMissing as missing:
            return str(missing)
        return None

    async def prepare(self) -> None:
        admin = await self._connection()
        await admin.execute("TRUNCATE procrastinate_jobs, procrastinate_events RESTART IDENTITY CASCADE")

    def processes(self) -> Sequence[Program]:
        return [self._program("worker")]

    def enqueuer(self) -> Program:
        return self._program("enqueue")

    async def count_done(self) -> int:
        admin = await self._connection()
        count: int = await admin.fetchval("SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'")
        return count

    async def done(self) -> Mapping[int, Sequence[float]]:
        done: dict[int, list[float]] = {}
        for number, at in await (await self._connection()).fetch(_DONE):
            done.setdefault(number, []).append(at)
        return done

    async def statements(self) -> float | None:
        return await self.lab.count_statements(_DATABASE)

    async def finish(self) -> None:
        await self.prepare()

    async def close(self) -> None:
        if self._admin is not None:
            await self._admin.close()

    def _program(self, role: str) -> Program:
        address = self.lab.superuser(_DATABASE)
        environment = self.lab.environment() | {
            "DSN": f"postgresql://{address.user}:{address.password}@{address.host}:{address.port}/{address.name}",
            "PYTHONPATH": str(ROOT / "infra"),
        }
        return Program((self.lab.peers.python(), str(PROGRAMS / "procrastinate_jobs.py"), role), environment)

    async def _connection(self) -> Connection:
        if self._admin is None:
            address = await self.lab.make_database(_DATABASE)
            program = self._program("make-tables")
            process = await asyncio.create_subprocess_exec(
                *program.argv, env=dict(program.env), cwd=program.cwd, stderr=asyncio.subprocess.PIPE
            )
            async with asyncio.timeout(_MAKE_TABLES_SECONDS):
                _, complaint = await process.communicate()
            if process.returncode != 0:
                raise RuntimeError(f"procrastinate made no tables: {complaint.decode(errors='replace')[-1000:]}")
            self._admin = await connect(address)
        return self._admin
