"""The sweep: whatever the broker lost is sent again."""

from __future__ import annotations

import asyncio
import contextlib
import random

from service_platform.database import DATABASE_LOST, Database
from service_platform.telemetry import get_logger

from .log_events import JobsLogEvent
from .statements import JobStatements

_log = get_logger()


class JobSweep:
    """Sends the hints of jobs again that are due and that nobody came for.

    Every `interval_seconds` one SQL call picks up to `limit` jobs whose hint is older than a growing wait, or whose
    run's lease has run out, and writes their hints to the outbox. It does not go through a job itself, which would
    need the very thing that it repairs. Any number of schedulers may run it at once.

    `resend_after_seconds` is how long nobody may come for a hint until the next one is sent; it doubles with each hint
    sent in vain, up to 64 times. The sink of the same service has the same number. A hint is lost with the broker, but
    also with a worker: the broker hands it to the connection on which the worker last asked, and a worker that is
    frozen or cut off just then never takes it. A short wait repairs that soon; in a queue that is longer than the wait
    it adds hints that claim nothing, at most `limit` a round.
    """

    def __init__(
        self,
        database: Database,
        *,
        resend_after_seconds: float,
        interval_seconds: float = 5.0,
        limit: int = 500,
    ) -> None:
        self._statements = JobStatements(database)
        self._interval = interval_seconds
        self._limit = limit
        self._resend_after = resend_after_seconds

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep until `stop`. A sweep that fails for want of the database is logged; the next one does its work."""
        while not stop.is_set():
            try:
                await self.sweep()
            except DATABASE_LOST as error:
                _log.warning(JobsLogEvent.SWEEP_FAILED, error=repr(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._interval * random.uniform(0.8, 1.2))

    async def sweep(self) -> int:
        """Sweep once; how many hints were sent."""
        swept = await self._statements.sweep(limit=self._limit, resend_after_seconds=self._resend_after)
        if swept:
            _log.info(JobsLogEvent.SWEPT, jobs=swept)
        return swept
