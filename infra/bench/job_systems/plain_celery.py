"""Celery as its documentation recommends it for work that matters: acks late, the same broker, no database."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import ClassVar

from bench.lab import Lab
from bench.processes import Program

from .job_system import PROGRAMS, JobSystem


class PlainCelery(JobSystem):
    """See `programs/plain_celery.py`. The task itself notes that it ran: without a backend Celery keeps no record."""

    name: ClassVar[str] = "celery"

    def __init__(self, lab: Lab) -> None:
        super().__init__(lab)
        self._notes = lab.settings.logs / "plain-celery.notes"

    async def prepare(self) -> None:
        await self.lab.empty_broker()
        self._notes.write_bytes(b"")

    def processes(self) -> Sequence[Program]:
        argv = (
            *(sys.executable, "-m", "celery", "-A", "plain_celery", "worker", "--loglevel", "warning"),
            *("--pool", "prefork", "--concurrency", str(self.children)),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        )
        return [Program(argv, self._environment(), PROGRAMS)]

    def enqueuer(self) -> Program:
        return Program((sys.executable, str(PROGRAMS / "plain_celery.py")), self._environment())

    async def count_done(self) -> int:
        return self._notes.read_bytes().count(b"\n")

    async def done(self) -> Mapping[int, Sequence[float]]:
        done: dict[int, list[float]] = {}
        for line in self._notes.read_text(encoding="utf-8").splitlines():
            number, at = line.split()
            done.setdefault(int(number), []).append(float(at))
        return done

    async def finish(self) -> None:
        await self.prepare()

    async def close(self) -> None:
        pass

    def _environment(self) -> dict[str, str]:
        return self.lab.environment() | {"BROKER": self.lab.broker_url, "NOTES": str(self._notes)}
