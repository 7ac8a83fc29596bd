"""Retries whose wake-up got lost are woken again."""

from __future__ import annotations

import asyncio
import random

from service_platform.database import DATABASE_LOST
from service_platform.pacing import wait_for_any
from service_platform.telemetry import LogEvent, get_logger

from .ledger import RetryLedger

_log = get_logger()


class InboxLogEvent(LogEvent):
    OVERDUE_WOKEN = "inbox.retry.overdue_woken"
    DATABASE_LOST = "inbox.retry.database_lost"


class OverdueRetries:
    """Every `interval_seconds`, wakes heads of the retry ledger that are due and that nobody came for.

    A wake-up is lost when its topic's disk is, or when the process that got it did not know its consumer. Any number
    of schedulers may run this at once.
    """

    def __init__(self, ledger: RetryLedger, *, interval_seconds: float = 10.0) -> None:
        self._ledger = ledger
        self._interval = interval_seconds

    async def run(self, stop: asyncio.Event) -> None:
        """Look until `stop`. A round that fails for want of the database is logged; the next one does its work."""
        while not stop.is_set():
            try:
                woken = await self._ledger.wake_overdue()
            except DATABASE_LOST as error:
                _log.warning(InboxLogEvent.DATABASE_LOST, error=repr(error))
            else:
                if woken:
                    _log.info(InboxLogEvent.OVERDUE_WOKEN, keys=woken)
            await wait_for_any(stop, seconds=self._interval * random.uniform(0.8, 1.2))
