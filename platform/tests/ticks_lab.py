"""What the tests of ticks share: some ticks, a clock that shows what it is told, and what was enqueued."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias

import asyncpg
from pydantic import BaseModel, ConfigDict

from service_platform.jobs import JobKind
from service_platform.operations import operator_actions
from service_platform.ticks import MissedRuns, Tick

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


class Chore(BaseModel):
    """What a tick of the lab has done."""

    model_config = ConfigDict(frozen=True)

    room: str = "kitchen"


CHORE = JobKind(name="lab.do-chore", payload=Chore)


def tick(name: str, cron: str = "* * * * *", missed: MissedRuns = MissedRuns.SKIP) -> Tick[Chore]:
    return Tick(name=name, cron=cron, kind=CHORE, payload=Chore(), missed=missed)


EVERY_MINUTE = tick("sweep")
CATCHING_UP = tick("wash", missed=MissedRuns.RUN_ONCE)
DAILY = tick("air", "30 4 * * *")

OPERATIONS = operator_actions((EVERY_MINUTE, DAILY))


def at(text: str) -> datetime:
    """An instant of 1 March 2026 in UTC, as in `12:00:30`."""
    return datetime.fromisoformat(f"2026-03-01T{text}+00:00")


async def show(owner: Owner, instant: datetime, rate: float = 0) -> None:
    """Let the platform's clock show `instant`; at rate 0 it stands still."""
    await owner.execute("SELECT platform_clock_set($1::timestamptz - clock_timestamp(), $2)", instant, rate)


async def pass_time(owner: Owner, by: timedelta) -> None:
    """Let the platform's clock jump ahead and stand still."""
    await owner.execute("SELECT platform_clock_set(platform_now() - clock_timestamp() + $1, 0)", by)


async def row(owner: Owner, name: str) -> str | None:
    """The minute in a tick's row."""
    found: str | None = await owner.fetchval("SELECT minute FROM job_ticks WHERE name = $1", name)
    return found


async def jobs(owner: Owner, name: str) -> list[str]:
    """The minutes for which a job of the tick was enqueued, each as often as it was."""
    keys = await owner.fetch("SELECT job_key FROM job WHERE job_key LIKE $1 ORDER BY job_key", f"tick:{name}:%")
    return [key.removeprefix(f"tick:{name}:") for (key,) in keys]
