"""The loop of a scheduler that fires ticks."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text

from service_platform.database import DATABASE_LOST, Database
from service_platform.pacing import Backoff, wait_for_any
from service_platform.telemetry import get_logger

from .cron import minute_text
from .firing import fire
from .log_events import TickLogEvent
from .missed import due
from .tick import JobTicks, Tick

LOOK_SECONDS = 15.0
"""How long a scheduler looks away at most, in real seconds."""

_SPREAD = timedelta(seconds=2)
_FIRING_SECONDS = 10.0
_ROUND_SECONDS = 30.0
_SHORTEST_PAUSE = 0.01

_LOOK = text(
    """
    SELECT c.now, c.rate, t.name, t.minute
    FROM (SELECT platform_now() AS now, platform_clock_rate() AS rate) AS c LEFT JOIN job_ticks t ON true
    """
)

_log = get_logger()


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look at the table saw: the database's time and its rate, and each tick's last minute."""

    now: datetime
    rate: float
    minutes: Mapping[str, str]
    at: float  # of this process's monotonic clock

    def pause_until(self, instant: datetime) -> float:
        """Real seconds from now until the database's clock shows `instant`."""
        ahead = (instant - self.now).total_seconds()
        return self.at + ahead / self.rate - time.monotonic() if self.rate > 0 else float("inf")


class Ticker:
    """Fires ticks. Every replica of a scheduler runs one, and knows nothing of the others.

    It looks with one statement, fires what seems to be due, and sleeps until the next instant by the database's
    clock, and up to 2 s more, so that replicas do not come all at once: who comes first fires, and those after it
    see in their look that nothing is left. No sleep is longer than `look_seconds`, since clocks are set, and machines
    sleep too.
    """

    def __init__(self, database: Database, ticks: JobTicks, *, look_seconds: float = LOOK_SECONDS) -> None:
        self._database = database
        self._ticks = ticks
        self._look_seconds = look_seconds
        self._retry = Backoff(0.5, min(5.0, look_seconds))
        self._round_ended: float | None = None

    @property
    def ready(self) -> bool:
        """Whether the last round reached the database, and is not long ago."""
        ended = self._round_ended
        return ended is not None and time.monotonic() - ended < self._look_seconds + _ROUND_SECONDS

    async def run(self, stop: asyncio.Event) -> None:
        """Fire until `stop`. A look that fails for want of the database is logged; a later one does its work."""
        while not stop.is_set():
            try:
                pause = await self.round()
            except DATABASE_LOST as error:
                self._round_ended = None
                pause = self._retry.failed()
                _log.warning(TickLogEvent.LOOK_FAILED, error=repr(error))
            else:
                self._round_ended = time.monotonic()
            await wait_for_any(stop, seconds=pause)

    async def round(self) -> float:
        """Fire what is due now, one tick after the other; seconds until it is worth to look again."""
        seen = await self._look()
        failed = [tick for tick in self._ticks if not await self._fired(tick, seen)]
        if failed:
            return self._retry.failed()
        self._retry.succeeded()
        upcoming = [tick.schedule.next_after(seen.now) for tick in self._ticks]
        pauses = [seen.pause_until(instant + _SPREAD * random.random()) for instant in upcoming]
        return max(_SHORTEST_PAUSE, min([self._look_seconds, *pauses]))

    async def _look(self) -> _Look:
        async with self._database.read() as session:
            rows = (await session.execute(_LOOK)).all()
        return _Look(rows[0].now, rows[0].rate, {row.name: row.minute for row in rows}, time.monotonic())

    async def _fired(self, tick: Tick[Any], seen: _Look) -> bool:
        """Fire `tick` if something of it seems to be due; False when that failed, which is logged."""
        found = due(tick, last=seen.minutes.get(tick.name), now=seen.now)
        if found is None:
            return True
        try:
            async with asyncio.timeout(_FIRING_SECONDS):
                await fire(tick, self._database)
        except Exception:  # noqa: BLE001 - whatever is wrong with one tick, the next one runs
            _log.exception(TickLogEvent.FAILED, tick=tick.name, minute=minute_text(found.minute))
            return False
        return True
