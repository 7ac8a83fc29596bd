"""A time of its own: one service's schedulers on a database whose clock the test sets.

An hour passes there in seconds. It has a database to itself, since the suite's other processes live in the hour that
everybody has: their leases would all run out in a minute that takes a moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg

from native.credentials import POSTGRES_PASSWORD
from native.layout import ROOT
from native.stack import Stack
from service_platform.database.schema import TEST_ROLE
from service_platform.ticks import JobTicks

from .waiting import eventually

Row = asyncpg.Record

MINUTE = timedelta(minutes=1)
BEGIN = datetime.fromisoformat("2026-03-01T10:00:00+00:00")
"""When every timeline begins: no tick of the hour is due in this minute."""

_RATE = 10.0
_LOOK_SECONDS = "0.1"
# A minute in which a scheduler runs lasts until everything due in it is done: the machine may be slow, and a minute
# that a replica had no time to look at is a missed one.
_HOLD_AT = timedelta(seconds=30)

# Whatever a tick enqueues is over and purged at once, and noted here: a second run of one minute shows, although a
# job's key is unique only while its row is there.
_NOTES = """
    CREATE TABLE run_of_tick (id bigint GENERATED ALWAYS AS IDENTITY, key text, at timestamptz);
    CREATE FUNCTION note_run() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    BEGIN
        INSERT INTO run_of_tick (key, at) VALUES (NEW.job_key, platform_now());
        DELETE FROM job WHERE id = NEW.id;
        RETURN NULL;
    END $$;
    CREATE TRIGGER note_run AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION note_run();
"""


class Scheduler:
    """One scheduler process."""

    def __init__(self, service: str, env: dict[str, str], folder: Path, name: str) -> None:
        self.log = folder / f"{name}.log"
        self._health = folder / f"{name}.json"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"{service}_service.main.scheduler"],
                env=env | {"HEALTH_FILE": str(self._health), "TICK_LOOK_SECONDS": _LOOK_SECONDS},
                cwd=ROOT / "services" / service,
                stdout=log,
                stderr=log,
            )

    def send(self, number: signal.Signals) -> None:
        """SIGSTOP, SIGCONT or SIGKILL."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """kill -9, and bury it."""
        self._process.kill()
        self._process.wait(10)

    async def ready(self) -> bool:
        """Whether its heartbeat says so. One that has died is an error."""
        if self._process.poll() is not None:
            raise AssertionError(f"the scheduler ended by itself: {self.log.read_text()[-2000:]}")
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return bool(json.loads(self._health.read_text())["ready"])
        return False

    def lines(self, event: str) -> list[dict[str, Any]]:
        """What it logged under this event's name."""
        lines = (json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{"))
        return [line for line in lines if line["event"] == event]


class Timeline:
    """Schedulers of `service`, the clock that they go by, and what their ticks enqueued."""

    def __init__(self, service: str, env: dict[str, str], database: asyncpg.Connection[Row], folder: Path) -> None:
        self.ticks: JobTicks = importlib.import_module(f"{service}_service.ticks").JOB_TICKS
        self.database = database
        self.schedulers: list[Scheduler] = []
        self._service = service
        self._env = env
        self._folder = folder

    def start(self) -> Scheduler:
        """One more replica; see `Scheduler.ready`."""
        scheduler = Scheduler(self._service, self._env, self._folder, f"scheduler-{len(self.schedulers)}")
        self.schedulers.append(scheduler)
        return scheduler

    async def started(self, replicas: int) -> list[Scheduler]:
        """So many more replicas that are ready."""
        made = [self.start() for _ in range(replicas)]
        for scheduler in made:
            await eventually(scheduler.ready, what="a scheduler is ready", within=90)
        return made

    async def show(self, instant: datetime, rate: float = 0) -> None:
        """Let the clock show `instant`, and go on at `rate`."""
        await self.database.execute("SELECT platform_clock_set($1::timestamptz - clock_timestamp(), $2)", instant, rate)

    async def unseen(self, minutes: Iterable[datetime]) -> None:
        """These minutes pass while nobody looks."""
        for minute in minutes:
            await self.show(minute + _HOLD_AT)

    async def seen(self, minute: datetime, *, failing: Sequence[str] = ()) -> None:
        """This minute passes while at least one replica runs: all that is due is claimed in it, but for `failing`."""
        deadline = time.monotonic() + 60
        await self.show(minute, _RATE)
        while behind := [name for name in await self._behind(minute) if name not in failing]:
            if time.monotonic() > deadline:
                raise AssertionError(f"in 60 s nobody claimed the minute {minute:%H:%M} of {behind}")
            if await self.database.fetchval("SELECT platform_now()") >= minute + _HOLD_AT:
                await self.show(minute + _HOLD_AT)
            await asyncio.sleep(0.01)

    async def runs(self) -> list[str]:
        """The keys of all jobs that were enqueued, in order."""
        return [key for (key,) in await self.database.fetch("SELECT key FROM run_of_tick ORDER BY id")]

    def expected(self, seen: Iterable[datetime]) -> Counter[str]:
        """The runs that the ticks' crons and policies ask for, when these are the minutes that somebody saw."""
        runs: Counter[str] = Counter()
        for tick in self.ticks:
            due_in = {minute: tick.schedule.latest_until(minute) for minute in seen}
            last = BEGIN
            for minute, newest in due_in.items():
                if newest > last and (newest == minute or tick.missed == "run-once"):
                    runs[f"tick:{tick.name}:{newest:%Y-%m-%dT%H:%M}"] += 1
                last = max(last, newest)
        return runs

    async def _behind(self, minute: datetime) -> list[str]:
        """The ticks whose row does not stand where it will be when everything due has been claimed."""
        found = await self.database.fetch("SELECT name, minute FROM job_ticks")
        rows = {row["name"]: row["minute"] for row in found}
        wanted = {tick.name: max(BEGIN, tick.schedule.latest_until(minute)) for tick in self.ticks}
        return [name for name, instant in wanted.items() if rows.get(name) != f"{instant:%Y-%m-%dT%H:%M}"]


class Timelines:
    """Makes timelines of any service; the database of each is a copy of the service's first, empty one."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._templates: dict[str, str] = {}

    @contextlib.asynccontextmanager
    async def of(self, service: str, folder: Path) -> AsyncIterator[Timeline]:
        """A timeline at `BEGIN`, with no scheduler yet; at the end those that there are then are killed."""
        if service not in self._templates:
            self._templates[service] = await self._create(service, template="template0")
            await self._migrate(service, self._templates[service])
        name = await self._create(service, template=self._templates[service])
        env = self._stack.env(f"{service}-scheduler") | {"DATABASE_NAME": name}
        database = await self._connect(name)
        timeline = Timeline(service, env, database, folder)
        try:
            await database.execute(_NOTES)
            await timeline.show(BEGIN)
            yield timeline
        finally:
            for scheduler in timeline.schedulers:
                scheduler.kill()
            await database.close()
            await self._drop(name)

    async def close(self) -> None:
        """Drop what was made."""
        for name in self._templates.values():
            await self._drop(name)

    async def _create(self, service: str, *, template: str) -> str:
        name = f"{service}_timeline_{uuid4().hex[:8]}"
        owner, app = f"{service}_owner", f"{service}_app"
        everywhere = await self._connect("postgres")
        if not await everywhere.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", TEST_ROLE):
            await everywhere.execute(f"CREATE ROLE {TEST_ROLE}")  # a superuser counts as its member
        await everywhere.execute(f"CREATE DATABASE {name} OWNER {owner} TEMPLATE {template}")
        await everywhere.execute(f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
        await everywhere.execute(f"GRANT CONNECT ON DATABASE {name} TO {app}")
        await everywhere.close()
        inside = await self._connect(name)
        await inside.execute(f"REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO {app}")
        await inside.close()
        return name

    async def _migrate(self, service: str, name: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "alembic", "upgrade", "head"),
            env=self._stack.topology.migration_env(service) | {"DATABASE_NAME": name},
            cwd=ROOT / "services" / service,
            stderr=asyncio.subprocess.PIPE,
        )
        _, said = await process.communicate()
        assert process.returncode == 0, said.decode()[-2000:]

    async def _drop(self, name: str) -> None:
        everywhere = await self._connect("postgres")
        await everywhere.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await everywhere.close()

    async def _connect(self, name: str) -> asyncpg.Connection[Row]:
        return await asyncpg.connect(
            host="127.0.0.1",
            port=self._stack.topology.ports["postgres"],
            database=name,
            user="postgres",
            password=(self._stack.layout.secrets / POSTGRES_PASSWORD).read_text(encoding="utf-8").strip(),
        )
