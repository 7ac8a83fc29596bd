"""Renewing leases, from a thread of its own."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable

import asyncpg

from service_platform.database import DatabaseAddress
from service_platform.telemetry import get_logger

from .drain import Drain
from .lease import Ending, Lease
from .log_events import JobsLogEvent

_ROUND_SECONDS = 0.2
_ANSWER_SECONDS = 5.0
_LONGEST_PAUSE_SECONDS = 1.0
GRACE_SECONDS = 5.0
"""How long a run that was told to end may take for it."""

EXIT_HUNG = 70
EXIT_ORPHANED = 71

_log = get_logger()


class LeaseKeeper(threading.Thread):
    """Renews the leases of this process's runs, and ends the runs that must end.

    It is a thread with an event loop and a connection of its own, so work that blocks its loop keeps its lease until
    the deadline. A process that is stopped stops this thread as well: its leases run out, which is what they are for.
    A renewal that errs is tried again, since the run may still own its job; one that finds no row ends the run; one
    that finds a request to cancel tells the run, which ends at its next safe point.

    A run that is still there `GRACE_SECONDS` after its deadline, or after the drain, hears nothing (its loop is
    blocked): its job is given away and the process ends. A process whose parent is gone ends at once.
    """

    def __init__(
        self,
        address: DatabaseAddress,
        *,
        application_name: str,
        drain: Drain,
        end_process: Callable[[int], object] = os._exit,
    ) -> None:
        super().__init__(name="lease-keeper", daemon=True)
        self._address = address
        self._application_name = application_name
        self._drain = drain
        self._end_process = end_process
        self._parent = os.getppid()
        self._watched: dict[Lease, _Watched] = {}
        self._stopping = threading.Event()
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None

    def watch(self, lease: Lease) -> None:
        """Keep `lease` until it is over."""
        self._watched[lease] = _Watched(lease)

    def stop(self) -> None:
        """End the thread; leases that are not over are no longer renewed."""
        self._stopping.set()
        self.join(2 * _ANSWER_SECONDS)

    def run(self) -> None:
        """The thread. Not to be called."""
        with asyncio.Runner() as runner:
            while not self._stopping.wait(_ROUND_SECONDS):
                if os.getppid() != self._parent:
                    _log.error(JobsLogEvent.PROCESS_ENDED, reason="the parent process is gone")
                    self._end_process(EXIT_ORPHANED)
                if self._watched:
                    runner.run(self._round())
            runner.run(self._disconnect())

    async def _round(self) -> None:
        for lease, watched in list(self._watched.items()):
            if lease.over:
                del self._watched[lease]
                continue
            now = time.monotonic()
            if now >= watched.renew_at:
                await self._renew(watched)
            if watched.told is None:
                if now >= watched.deadline:
                    watched.tell(Ending.DEADLINE)
                elif self._drain.is_due:
                    watched.tell(Ending.DRAIN)
            elif now >= watched.gone_by and not lease.over:
                await self._end(watched, watched.told)

    async def _renew(self, watched: _Watched) -> None:
        job, lease_seconds = watched.lease.job, watched.lease.job.kind.lease_seconds
        started = time.monotonic()
        try:
            connection = await self._connected()
            verdict = await connection.fetchval(
                "SELECT job_renew($1, $2, $3)", job.job_id, job.row.token, lease_seconds
            )
        except Exception as error:  # noqa: BLE001 - a keeper that ended would leave every later run without a lease
            watched.renew_at = time.monotonic() + min(_LONGEST_PAUSE_SECONDS, lease_seconds / 10)
            _log.warning(JobsLogEvent.RENEWAL_FAILED, job_id=str(job.job_id), run=job.row.token, error=repr(error))
            await self._disconnect()
            return
        if verdict is not None:
            watched.renew_at = started + lease_seconds / 3
            watched.lease.cancel_requested = verdict == "cancel"
        elif not watched.lease.over:
            watched.renew_at = float("inf")
            watched.lease.end(Ending.LOST)
            _log.warning(JobsLogEvent.LEASE_LOST, job_id=str(job.job_id), run=job.row.token)

    async def _end(self, watched: _Watched, ending: Ending) -> None:
        """Give the job away and end the process, whose work does not hear that it should end."""
        job = watched.lease.job
        about = {"kind": job.kind.name, "job_id": str(job.job_id), "run": job.row.token}
        try:
            connection = await self._connected()
            if ending is Ending.DRAIN:
                await connection.fetchval("SELECT job_release($1, $2)", job.job_id, job.row.token)
            else:
                error = f"Not through after {job.kind.deadline_seconds:g} s and deaf to cancellation: process ended."
                await connection.fetchval(
                    "SELECT job_fail($1, $2, $3, $4, $5)",
                    job.job_id, job.row.token, error, job.kind.pause_after(job.row.claims), job.kind.max_claims,
                )  # fmt: skip
        except Exception as error:  # noqa: BLE001 - whatever it is, the process ends, and its leases run out
            _log.warning(JobsLogEvent.SETTLING_FAILED, **about, error=repr(error))
        _log.error(JobsLogEvent.PROCESS_ENDED, **about, reason=f"{ending.value}, and it hears no cancellation")
        self._end_process(EXIT_HUNG)

    async def _connected(self) -> asyncpg.Connection[asyncpg.Record]:
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(
                **self._address.driver_arguments(),
                timeout=_ANSWER_SECONDS,
                command_timeout=_ANSWER_SECONDS,
                server_settings={"application_name": f"{self._application_name} leases"},
            )
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                await connection.close(timeout=1)
            except Exception:  # noqa: BLE001 - it is given up either way
                connection.terminate()


class _Watched:
    """What the keeper knows of one lease. Instants are of the monotonic clock."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.renew_at = lease.started + lease.job.kind.lease_seconds / 3
        self.deadline = lease.started + lease.job.kind.deadline_seconds
        self.told: Ending | None = None
        self.gone_by = float("inf")

    def tell(self, ending: Ending) -> None:
        """Tell the run to end, and when it must be gone by."""
        self.told = ending
        self.gone_by = time.monotonic() + GRACE_SECONDS
        self.lease.end(ending)
        _log.warning(JobsLogEvent.RUN_ENDED, job_id=str(self.lease.job.job_id), run=self.lease.job.row.token,
                     reason=ending.value)  # fmt: skip
