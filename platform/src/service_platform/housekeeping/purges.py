"""What is deleted once it is old enough."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal, Protocol

from service_platform.database import Claim, Database, Transaction
from service_platform.idempotency import purge_idempotency_keys
from service_platform.inbox import purge_inbox
from service_platform.jobs import purge_jobs
from service_platform.outbox import purge_outbox
from service_platform.telemetry import LogEvent, get_logger
from service_platform.ticks import MissedRuns

BATCH_ROWS = 1000
_RUN_SECONDS = 60.0

_log = get_logger()


class HousekeepingLogEvent(LogEvent):
    PURGED = "housekeeping.purged"


class PurgeBatch(Protocol):
    """Deletes up to `rows` that are older than that, in `tx`; how many. Fewer than `rows` say that it is done."""

    async def __call__(self, tx: Transaction, *, older_than: timedelta, rows: int) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long what is not needed any more is kept for people to look at."""

    outbox: timedelta
    inbox: timedelta
    idempotency_keys: timedelta
    jobs: timedelta


@dataclass(frozen=True, slots=True)
class Purge:
    """One purge: which field of `Retention` it goes by, what deletes, and when."""

    of: Literal["outbox", "inbox", "idempotency_keys", "jobs"]
    batch: PurgeBatch
    cron: str
    missed: MissedRuns

    @property
    def name(self) -> str:
        """As a tick, and after the service's name as a job kind."""
        return f"purge-{self.of.replace('_', '-')}"


PURGES: Final[Sequence[Purge]] = (
    Purge("outbox", purge_outbox, "* * * * *", MissedRuns.SKIP),
    Purge("inbox", purge_inbox, "7 * * * *", MissedRuns.RUN_ONCE),
    Purge("idempotency_keys", purge_idempotency_keys, "17 * * * *", MissedRuns.SKIP),
    Purge("jobs", purge_jobs, "27 * * * *", MissedRuns.RUN_ONCE),
)


@dataclass(frozen=True, slots=True)
class RunPurge:
    """Delete what `purge` is about, under `fence`."""

    fence: Claim
    purge: Purge


class Housekeeping:
    """The use case behind every purge."""

    def __init__(self, database: Database, retention: Retention, *, batch_rows: int = BATCH_ROWS) -> None:
        self._database = database
        self._retention = retention
        self._batch_rows = batch_rows

    async def purge(self, command: RunPurge) -> int:
        """Delete in batches, each a transaction of its own under the fence, until nothing is left; how many rows.

        After a minute the rest is left to the next run. A run that ends in the middle has deleted whole batches.
        """
        older_than: timedelta = getattr(self._retention, command.purge.of)
        enough = time.monotonic() + _RUN_SECONDS
        purged = 0
        while True:
            async with self._database.transaction(claim=command.fence) as tx:
                deleted = await command.purge.batch(tx, older_than=older_than, rows=self._batch_rows)
            purged += deleted
            if deleted < self._batch_rows or time.monotonic() > enough:
                break
        if purged:
            _log.info(HousekeepingLogEvent.PURGED, of=command.purge.of, rows=purged)
        return purged
