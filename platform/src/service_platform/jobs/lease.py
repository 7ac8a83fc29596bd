"""The lease of one run, as the run itself feels it: work under it is cancelled when it ends."""

from __future__ import annotations

import asyncio
import time
from enum import Enum
from types import TracebackType
from typing import Protocol, Self

from .claim import ClaimedJob
from .fenced_out import JobFencedOut


class DeadlinePassed(Exception):
    """The run took longer than its kind's deadline and was ended."""


class HandedBack(Exception):
    """The process stops before the run is through; the job goes back unfinished and without fault."""


class Ending(Enum):
    """Why a run is ended from outside."""

    LOST = "the renewal found no such run: another one owns the job, or it is finished"
    DEADLINE = "the run took longer than its kind's deadline"
    DRAIN = "the process stops"


class Lease:
    """Runs a block as one run of `job`; made in the task that works, ended from any thread.

    Ending cancels the task. The block then raises `JobFencedOut`, `DeadlinePassed` or `HandedBack`, whatever the work
    itself raised on its way out. A request to cancel the job ends nothing: `cancel_requested` tells the work, which
    ends at its next safe point.
    """

    def __init__(self, job: ClaimedJob) -> None:
        self.job = job
        self.started = time.monotonic()
        self.ending: Ending | None = None
        self.over = False
        self.cancel_requested = False
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._cancelling = self._task.cancelling() if self._task is not None else 0

    def end(self, ending: Ending) -> None:
        """Cancel the work, unless it is over. Any thread may call it; a blocked event loop does not hear it."""
        self._loop.call_soon_threadsafe(self._cancel, ending)

    def _cancel(self, ending: Ending) -> None:
        if not self.over and self.ending is None and self._task is not None:
            self.ending = ending
            self._task.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.over = True
        if self.ending is None or self._task is None:
            return
        if self._task.uncancel() > self._cancelling:
            return  # somebody else cancelled the task as well: that goes on
        match self.ending:
            case _ if error is None or isinstance(error, JobFencedOut):
                return
            case Ending.LOST:
                raise JobFencedOut(f"job {self.job.job_id}: {self.ending.value}") from error
            case Ending.DEADLINE:
                raise DeadlinePassed(f"Ended after {self.job.kind.deadline_seconds:g} s.") from error
            case Ending.DRAIN:
                raise HandedBack(self.ending.value) from error


class Leases(Protocol):
    """Keeps the leases of running jobs."""

    def watch(self, lease: Lease) -> None:
        """Renew `lease`, and end it when it must end, until it is over."""
        ...
