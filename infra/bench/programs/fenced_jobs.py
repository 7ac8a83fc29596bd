"""Fenced jobs of the order service that do nothing: `worker` runs them, `enqueue` enqueues each in a transaction.

Told by FENCED whether the step makes a transaction under its fence. A warm-up's jobs have numbers below zero.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any, ClassVar

import uvloop
from pydantic import BaseModel, ConfigDict

from bench import enqueuing
from service_platform.bootstrap import open_database
from service_platform.database import Database
from service_platform.jobs import FencedProcessor, JobKind, JobRun, Step
from service_platform.jobs.worker import run_worker
from service_platform.outbox import WakeUp
from service_platform.settings import ServiceSettings, load
from service_platform.telemetry import configure_logging


class Nothing(BaseModel):
    model_config = ConfigDict(frozen=True)

    number: int


KIND = JobKind(name="order.do-nothing", payload=Nothing)


class DoNothing(Step[Nothing]):
    name: ClassVar[str] = "do-nothing"

    def __init__(self, database: Database, *, fenced: bool) -> None:
        self._database = database
        self._fenced = fenced

    async def run(self, run: JobRun[Nothing]) -> None:
        if self._fenced:
            async with self._database.transaction(claim=run.fence(self.name)):
                pass


class DoesNothing(FencedProcessor[Nothing]):
    kind = KIND


@contextlib.asynccontextmanager
async def processors(database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
    yield [DoesNothing([DoNothing(database, fenced=os.environ["FENCED"] == "True")])]


async def enqueue_all(settings: ServiceSettings) -> None:
    """As an API process does it: a transaction a job, and the wake-up of the relays beside it."""
    database = open_database(settings, "bench enqueuer")
    stop = asyncio.Event()
    waking = asyncio.create_task(WakeUp(database).run(stop))

    async def enqueue(number: int) -> None:
        async with database.transaction() as tx:
            await KIND.enqueue(Nothing(number=number), tx, key=f"bench:{number}")

    await enqueuing.serve(enqueue)
    stop.set()
    await waking
    await database.close()


def main() -> None:
    settings = load(ServiceSettings)
    if sys.argv[1] == "worker":
        sys.exit(run_worker(settings, processors))
    configure_logging(settings.service_name, "bench", level="WARNING", to=sys.stderr)  # stdout is for the bench
    uvloop.run(enqueue_all(settings))


if __name__ == "__main__":
    main()
