"""Two workers of one service on one database, each with connections of its own; either may die or become a zombie."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import asyncpg

from service_platform.database import Database, DatabaseAddress
from service_platform.jobs import FencedProcessor, JobRunner, Lease

from .crashing import Crash, Run, running

LATER_SECONDS = 400.0
"""Longer than any lease and backoff."""


class NoLeases:
    """Jobs here are over before a lease needs renewing."""

    def watch(self, lease: Lease) -> None:
        return None


class CrashWorkers:
    """`processors` makes those of worker 0 or 1 on its own database. The owner looks and moves the clock."""

    def __init__(
        self,
        app: DatabaseAddress,
        owner: asyncpg.Connection[Any],
        watcher: asyncpg.Connection[Any],
        processors: Callable[[Database, int], Sequence[FencedProcessor[Any]]],
    ) -> None:
        self._owner = owner
        self._watcher = watcher  # as the app role, which alone sees what the app role's sessions do
        self._looking = asyncio.Lock()
        self.calm = Database(app, application_name="calm", pool_size=4)
        self._databases = [Database(app, application_name=f"worker-{n}", pool_size=2) for n in (0, 1)]
        self._runners = [
            JobRunner(database, processors(database, number), leases=NoLeases())
            for number, database in enumerate(self._databases)
        ]

    async def close(self) -> None:
        for database in (self.calm, *self._databases):
            await database.close()

    async def deliver(self, job_id: UUID, run: Run | None = None, *, worker: int = 1) -> bool:
        """One delivery of a job to a worker; False if it crashed. An error ends it as a failed run."""
        kind = await self.value("SELECT kind FROM job WHERE id = $1", job_id)
        with running(run or Run()):
            try:
                await self._runners[worker].run(kind, job_id)
            except Crash:
                return False
        return True

    async def until_done(self, job_id: UUID, run: Run | None = None, *, worker: int = 1, limit: int = 8) -> bool:
        """Deliveries until the job is finished, with time between them; False if one crashed."""
        run = run or Run()
        for _ in range(limit):
            if not await self.deliver(job_id, run, worker=worker):
                return False
            if await self.value("SELECT status FROM job WHERE id = $1", job_id) == "done":
                return True
            await self.let_time_pass()
        said = await self.row("SELECT status, error FROM job WHERE id = $1", job_id)
        raise AssertionError(f"the job is not done after {limit} runs: {dict(said)}")

    async def until_held(self, job_id: UUID, zombie: Run) -> None:
        """Deliveries to worker 0 until its run is stopped where it shall be; returns when that run has ended."""
        while not zombie.held.is_set():
            await self.deliver(job_id, zombie, worker=0)
            if not zombie.held.is_set():
                await self.let_time_pass()

    async def let_time_pass(self, seconds: float = LATER_SECONDS) -> None:
        """Leases and backoffs are over."""
        await self.execute(
            "SELECT platform_clock_set(platform_now() - clock_timestamp() + make_interval(secs => $1), 1)", seconds
        )

    async def end_transaction_of(self, worker: int) -> None:
        """What the server does to a process that stands still inside a transaction, without the wait for it."""
        ended = await self._watcher.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = $1 AND datname = current_database() AND xact_start IS NOT NULL",
            f"worker-{worker}",
        )
        assert len(ended) == 1, "the stopped worker has no transaction open"

    async def waits_for_lock(self, application: str) -> bool:
        """Whether a session of that name waits for somebody's lock."""
        found = await self._watcher.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"
            " AND wait_event_type = 'Lock'",
            application,
        )
        return bool(found)

    async def value(self, query: str, *arguments: Any) -> Any:
        row = await self.row(query, *arguments)
        return row[0] if row is not None else None

    async def row(self, query: str, *arguments: Any) -> Any:
        async with self._looking:
            return await self._owner.fetchrow(query, *arguments)

    async def execute(self, query: str, *arguments: Any) -> None:
        async with self._looking:
            await self._owner.execute(query, *arguments)
