"""The processors of housekeeping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from service_platform.database import Database
from service_platform.jobs import FencedProcessor, JobRun, Step

from .kinds import PurgePayload, purge_kind
from .purges import PURGES, Housekeeping, Purge, Retention, RunPurge


class PurgeStep(Step[PurgePayload]):
    """Deletes what is old enough."""

    name: ClassVar[str] = "purge"

    def __init__(self, housekeeping: Housekeeping, purge: Purge) -> None:
        self._housekeeping = housekeeping
        self._purge = purge

    async def run(self, run: JobRun[PurgePayload]) -> None:
        await self._housekeeping.purge(RunPurge(fence=run.fence(self.name), purge=self._purge))


class PurgeProcessor(FencedProcessor[PurgePayload]):
    """Runs one purge of one service."""

    def __init__(self, service: str, housekeeping: Housekeeping, purge: Purge) -> None:
        self.kind = purge_kind(service, purge)
        super().__init__([PurgeStep(housekeeping, purge)])


def housekeeping_processors(service: str, database: Database, retention: Retention) -> Sequence[FencedProcessor[Any]]:
    """A processor for each job that `housekeeping_ticks(service)` start."""
    housekeeping = Housekeeping(database, retention)
    return [PurgeProcessor(service, housekeeping, purge) for purge in PURGES]
