"""What runs jobs, as the bench sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from bench.lab import Lab
from bench.processes import Program

PROGRAMS = Path(__file__).parents[1] / "programs"


class JobSystem(ABC):
    """Jobs that do nothing: enqueued by a program of its own, run by its processes.

    One instance a run of the bench. The calls of one measurement: `prepare`; then `processes` and `enqueuer`, which are
    started; then `done` until it has all; then `finish`.
    """

    name: ClassVar[str]

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def missing(self) -> str | None:
        """Why it cannot take part on this machine; None when it can."""
        return None

    @abstractmethod
    async def prepare(self) -> None:
        """Have no job, whatever there was. None of its processes runs at that time."""

    @abstractmethod
    def processes(self) -> Sequence[Program]:
        """What brings jobs to workers and runs them."""

    @abstractmethod
    def enqueuer(self) -> Program:
        """The program that enqueues as `bench.enqueuing` says."""

    @abstractmethod
    async def count_done(self) -> int:
        """How many jobs are over, those of a warm-up included."""

    @abstractmethod
    async def done(self) -> Mapping[int, Sequence[float]]:
        """By job: when each of its runs was over, in seconds since the epoch."""

    async def statements(self) -> float | None:
        """How many statements its database has seen so far; None when it has none."""
        return None

    @abstractmethod
    async def finish(self) -> None:
        """Leave nothing behind that would cost the next one."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of connections."""

    @property
    def children(self) -> int:
        """How many jobs our own worker, and so a pool like it, runs at a time."""
        return int(self.of_the_suite("order-worker").env["WORKER_CONCURRENCY"])

    def of_the_suite(self, name: str) -> Program:
        """A process of the suite as the stack starts it."""
        process = next(p for p in self.lab.stack.topology.processes() if p.name == name)
        return Program(process.argv, process.env, process.cwd)
