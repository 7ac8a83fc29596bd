"""The purge: finished jobs are kept for a while and then deleted, others never."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

from sqlalchemy import text

from service_platform.database import DATABASE_LOST, Database
from service_platform.pacing import wait_for_any
from service_platform.telemetry import get_logger

from .log_events import JobsLogEvent

_PURGE = text("SELECT job_purge(:older_than, :rows)")

_log = get_logger()


class JobPurge:
    """Deletes jobs that were done or cancelled longer than `retention` ago. Any number may run at once.

    Every `interval_seconds` it deletes batches of `batch` rows, each in a transaction of its own, until one is not
    full. A dead job, and one that needs review, stays until a person has retried or resolved it.

    A job's row is what makes a second enqueue of its key a no-op, so `retention` must outlast everything that could
    enqueue the key again. For a consumer that is the redelivery of its event, which the inbox stops for as long as
    its row is kept: so `retention` is no shorter than the inbox's (`ServiceSettings` checks it). A tick cannot come
    again, since its row moves only forward; whatever else enqueues has a row of its own that says that it did.
    """

    def __init__(
        self, database: Database, *, retention: timedelta, interval_seconds: float = 60.0, batch: int = 1000
    ) -> None:
        self._database = database
        self._retention = retention
        self._interval = interval_seconds
        self._batch = batch

    async def run(self, stop: asyncio.Event) -> None:
        """Purge until `stop`. What fails for want of the database is logged; the next turn does its work."""
        while not stop.is_set():
            try:
                await self.purge(stop)
            except DATABASE_LOST as error:
                _log.warning(JobsLogEvent.PURGE_FAILED, error=repr(error))
            await wait_for_any(stop, seconds=self._interval * random.uniform(0.8, 1.2))

    async def purge(self, stop: asyncio.Event) -> int:
        """Purge once; how many jobs were deleted."""
        purged = 0
        while not stop.is_set():
            async with self._database.transaction() as tx:
                answer = await tx.session.execute(_PURGE, {"older_than": self._retention, "rows": self._batch})
                deleted: int = answer.scalar_one()
            purged += deleted
            if deleted < self._batch:
                break
        if purged:
            _log.info(JobsLogEvent.PURGED, jobs=purged)
        return purged
