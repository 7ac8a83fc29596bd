"""The purge: sent messages are kept for a while and then deleted, unsent ones never."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

from sqlalchemy import text

from service_platform.database import Database
from service_platform.pacing import wait_for_any
from service_platform.telemetry import get_logger

from .connection import DATABASE_LOST
from .log_events import OutboxLogEvent

_PURGE = text("SELECT outbox_purge(:older_than, :rows)")

_log = get_logger()


class OutboxPurge:
    """Deletes messages that were written longer than `retention` ago and are not in the queue any more.

    Every `interval_seconds` it deletes batches of `batch` rows, each in a transaction of its own, until one is not
    full. A message that was discarded is kept for `retention` after that. Any number may run at once.
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
                _log.warning(OutboxLogEvent.PURGE_FAILED, error=repr(error))
            await wait_for_any(stop, seconds=self._interval * random.uniform(0.8, 1.2))

    async def purge(self, stop: asyncio.Event) -> int:
        """Purge once; how many messages were deleted."""
        purged = 0
        while not stop.is_set():
            async with self._database.transaction() as tx:
                answer = await tx.session.execute(_PURGE, {"older_than": self._retention, "rows": self._batch})
                deleted: int = answer.scalar_one()
            purged += deleted
            if deleted < self._batch:
                break
        if purged:
            _log.info(OutboxLogEvent.PURGED, rows=purged)
        return purged
