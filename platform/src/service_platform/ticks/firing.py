"""Firing a tick: the lock, the claim, and only then the job, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from service_platform.database import Database, Transaction
from service_platform.telemetry import correlation_scope, get_logger

from .cron import minute_text
from .log_events import TickLogEvent
from .missed import Due, due
from .tick import Tick

# Two statements: what is read must be what the lock's last holder has committed, and a statement sees nothing that
# was committed after it began.
_TRY_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended($1::text, 0))"
_LOOK = "SELECT platform_now() AS now, (SELECT t.minute FROM job_ticks t WHERE t.name = $1::text) AS last"
_CLAIM = "SELECT job_tick_claim($1::text, $2::text)"

_log = get_logger()


class Firing(StrEnum):
    """What came of firing a tick."""

    FIRED = "fired"
    PASSED_OVER = "passed over"  # claimed, and the tick's policy says that a missed minute is not run
    BEGUN = "begun"  # the tick was new
    NOT_DUE = "not due"  # nothing is left to claim: another replica did
    BUSY = "busy"  # another replica is at it


@dataclass(frozen=True, slots=True)
class _Row:
    """A tick's row under its lock: the minute that was claimed last, and what time it is."""

    now: datetime
    last: str | None


def lock_name(tick: Tick[Any]) -> str:
    """The name of the lock under which everything about a tick is decided."""
    return f"tick:{tick.name}"


async def fire(tick: Tick[Any], database: Database) -> Firing:
    """Claim what is due of `tick`, and enqueue one job if it is to run. Any number of replicas may call it at once.

    All of it commits or none: a crash, an error or a pause beyond the server's time limits leaves the minute to the
    next one who looks. So one job comes of a minute, with key and correlation id `tick:<name>:<minute>`.

    Nothing that the caller knew before counts: the row and the clock are read under the lock. A caller who was
    stopped for an hour in front of it finds the minutes of that hour claimed.
    """
    async with database.transaction() as tx:
        if not await _first(tx, _TRY_LOCK, lock_name(tick)):
            return Firing.BUSY
        row = await _look(tx, tick)
        found = due(tick, last=row.last, now=row.now)
        if found is None or not await _first(tx, _CLAIM, tick.name, minute_text(found.minute)):
            return Firing.NOT_DUE
        if found.runs:
            await _enqueue(tick, found.minute, tx)
    return _said(tick, row, found)


async def _look(tx: Transaction, tick: Tick[Any]) -> _Row:
    connection = await tx.session.connection()
    row = (await connection.exec_driver_sql(_LOOK, (tick.name,))).one()
    return _Row(row.now, row.last)


async def _enqueue(tick: Tick[Any], minute: datetime, tx: Transaction) -> None:
    key = f"tick:{tick.name}:{minute_text(minute)}"
    with correlation_scope(key):
        await tick.kind.enqueue(tick.payload, tx, key=key)


async def _first(tx: Transaction, statement: str, *values: str) -> bool:
    connection = await tx.session.connection()
    return bool((await connection.exec_driver_sql(statement, values)).scalar_one())


def _said(tick: Tick[Any], row: _Row, found: Due) -> Firing:
    about = {"tick": tick.name, "minute": minute_text(found.minute)}
    if row.last is None:
        _log.info(TickLogEvent.BEGUN, **about)
        return Firing.BEGUN
    if found.missed:
        _log.warning(TickLogEvent.MISSED, **about, since=row.last, policy=tick.missed, runs=found.runs)
    if not found.runs:
        return Firing.PASSED_OVER
    _log.info(TickLogEvent.FIRED, **about, kind=tick.kind.name)
    return Firing.FIRED
