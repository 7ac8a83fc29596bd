"""What the tests of jobs share: job kinds whose payload says what happens, and what they leave behind.

Also a program: `python jobs_lab.py` is a worker for these kinds, as a service's `main/worker.py` is one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, TypeAlias
from uuid import UUID

import asyncpg
from pydantic import BaseModel, ConfigDict
from sqlalchemy import text

from service_platform.database import Claim, Database
from service_platform.jobs import Broker, FencedProcessor, JobKind, JobRun, NeedsReview, Step, worker
from service_platform.jobs.celery_app import celery_app
from service_platform.jobs.worker import run_worker
from service_platform.settings import ServiceSettings, load
from world.waiting import eventually

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


What: TypeAlias = Literal["note", "await", "block", "exit", "raise", "review", "safe points"]


class Script(BaseModel):
    """What each of the two steps of a job does: `note` an effect, and then perhaps take its time or go wrong."""

    model_config = ConfigDict(frozen=True)

    first: What = "note"
    second: What = "note"
    seconds: float = 0.0


QUICK = JobKind(
    name="lab.quick", payload=Script, lease_seconds=2, deadline_seconds=60, max_claims=3, backoff_seconds=0.05
)
SHORT = JobKind(
    name="lab.short", payload=Script, lease_seconds=2, deadline_seconds=1, max_claims=3, backoff_seconds=0.05
)

BRIEF = JobKind(
    name="lab.brief", payload=Script, lease_seconds=0.5, deadline_seconds=60, max_silent_runs=3, backoff_seconds=0.05
)
ENDLESS = JobKind(name="lab.endless", payload=Script, deadline_seconds=3600)
NEWER = JobKind(name="lab.newer", payload=Script)


@dataclass(frozen=True)
class Note:
    """A command of the lab's domain: note an effect under `fence`."""

    fence: Claim
    run_key: str
    job_id: UUID
    what: str


class Lab:
    """The domain service."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, command: Note) -> None:
        async with self._database.transaction(claim=command.fence) as tx:
            await tx.session.execute(
                text("INSERT INTO effect (job_id, what, run_key, pid) VALUES (:job_id, :what, :run_key, :pid)"),
                {
                    "job_id": command.job_id,
                    "what": command.what,
                    "run_key": command.run_key,
                    "pid": os.getpid(),
                },
            )


class LabStep(Step[Script]):
    """Notes `<name> begins`, does what the script says, notes `<name> ends`."""

    def __init__(self, lab: Lab, name: Literal["first", "second"]) -> None:
        self._lab = lab
        self.name = name  # type: ignore[misc] # two steps of one class

    async def run(self, run: JobRun[Script]) -> None:
        await self._note(run, "begins")
        match getattr(run.payload, self.name):
            case "await":
                await asyncio.sleep(run.payload.seconds)
            case "block":
                time.sleep(run.payload.seconds)  # noqa: ASYNC251 - a step that blocks its loop is what is tested
            case "exit":
                os._exit(9)
            case "raise":
                raise ValueError("the script says so: \0")
            case "review":
                raise NeedsReview("the script says so: \0")
            case "safe points":
                for _ in range(int(run.payload.seconds / 0.1)):
                    run.safe_point()
                    await asyncio.sleep(0.1)
        await self._note(run, "ends")

    async def _note(self, run: JobRun[Script], what: str) -> None:
        await self._lab.note(
            Note(
                fence=run.fence(self.name),
                run_key=str(run.key(self.name)),
                job_id=run.job_id,
                what=f"{self.name} {what}",
            )
        )


class Quick(FencedProcessor[Script]):
    kind = QUICK


class Short(FencedProcessor[Script]):
    kind = SHORT


class Brief(FencedProcessor[Script]):
    kind = BRIEF


class Endless(FencedProcessor[Script]):
    kind = ENDLESS


class Newer(FencedProcessor[Script]):
    kind = NEWER


# Processors that only a worker has whose environment asks for them.
ON_DEMAND = {"LAB_ENDLESS": Endless, "LAB_NEWER": Newer}


@contextlib.asynccontextmanager
async def processors(database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
    lab = Lab(database)
    kinds = [Quick, Short, Brief, *(kind for name, kind in ON_DEMAND.items() if name in os.environ)]
    yield [kind([LabStep(lab, "first"), LabStep(lab, "second")]) for kind in kinds]


async def make_effects(owner: Owner, app_role: str) -> None:
    """The lab's own table."""
    await owner.execute(
        f"""
        CREATE TABLE effect (
            id bigint GENERATED ALWAYS AS IDENTITY, job_id uuid, what text, run_key text, pid integer,
            at timestamptz DEFAULT clock_timestamp()
        );
        GRANT SELECT, INSERT ON effect TO {app_role}
        """
    )


async def enqueue(database: Database, script: Script, key: str, kind: JobKind[Script] = QUICK) -> UUID:
    async with database.transaction() as tx:
        return await kind.enqueue(script, tx, key=key)


async def shift_clock(owner: Owner, seconds: float) -> None:
    """Let the platform's clock go `seconds` ahead of the real one."""
    await owner.execute("SELECT platform_clock_set($1, 1)", timedelta(seconds=seconds))


async def hints(owner: Owner, job_id: UUID) -> int:
    """How many hints of a job went into the outbox."""
    found: int = await owner.fetchval(
        "SELECT count(*) FROM outbox WHERE channel = 'celery' AND destination = 'lab.jobs' AND key = $1", str(job_id)
    )
    return found


async def whats(owner: Owner) -> list[str]:
    """All effects, in order."""
    return [row["what"] for row in await owner.fetch("SELECT what FROM effect ORDER BY id")]


async def begun(owner: Owner) -> None:
    """Wait until a step has noted that it begins."""
    await eventually(lambda: owner.fetchval("SELECT count(*) FROM effect"), what="a step began")


def _with_visibility(settings: ServiceSettings, seconds: int) -> None:
    """Have messages delivered again `seconds` after they were taken, and looked for every second."""
    broker = Broker(settings.service_name, settings.redis_url(), visibility_timeout_seconds=seconds)
    app = celery_app(broker)
    app.conf.broker_transport_options |= {"unacked_restore_interval": 0.5, "unacked_restore_throttle": 1}
    worker.celery_app = lambda _: app
    worker.broker_of = lambda _: replace(broker, visibility_timeout_seconds=900)


if __name__ == "__main__":
    lab_settings = load(ServiceSettings)
    if seconds := os.environ.get("LAB_VISIBILITY"):
        _with_visibility(lab_settings, int(seconds))
    sys.exit(run_worker(lab_settings, processors, drain_seconds=float(os.environ.get("LAB_DRAIN", "10"))))
