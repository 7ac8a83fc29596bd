"""A run of a job that can die, lose an answer or be stopped at every place where that can happen to a process.

Every such place calls `reach()`: each statement on the wire (`WatchedProtocol`, so BEGIN, COMMIT and the job's own
statements count as well) and each call outside (`Watched`). A clean run records its boundaries; a test then tries each.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar

import asyncpg.protocol

CALLS = (" sent", " answered", " refused")
"""How the boundaries of a call outside end: before it leaves, after its answer or its error came."""


class Crash(BaseException):
    """The process is gone. Nothing may catch it."""


@dataclass
class Run:
    """One run of the job, and what befalls it at which of its boundaries (counted from 0).

    `lost` is what a call raises whose answer was lost, if a test loses any: a subclass says so.
    """

    lost: ClassVar[type[Exception]] = ConnectionError

    crash_at: int | None = None
    drop_at: int | None = None
    hold_at: int | None = None
    wake_at: int | None = None
    zombie: Run | None = None
    reached: list[str] = field(default_factory=list)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    resume: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    inside_transaction: bool = False

    def answer_lost(self, boundary: str) -> Exception:
        """What the work is told at `boundary` where an answer is lost."""
        return self.lost(f"the answer was lost: {boundary}")


_run: ContextVar[Run | None] = ContextVar("run", default=None)


@contextlib.contextmanager
def running(run: Run) -> Iterator[None]:
    """Within the block this task is that run."""
    token = _run.set(run)
    run.ended.clear()
    try:
        yield
    finally:
        _run.reset(token)
        run.ended.set()


def current_run() -> Run | None:
    """The run that this task is part of."""
    return _run.get()


async def reach(boundary: str) -> None:
    """A place where this run can die, be stopped, or let a stopped one go on."""
    run = _run.get()
    if run is None:
        return
    at = len(run.reached)
    run.reached.append(boundary)
    if at == run.crash_at:
        raise Crash(boundary)
    if at == run.drop_at:
        raise run.answer_lost(boundary)
    if at == run.hold_at:
        run.held.set()
        await run.resume.wait()
    if at == run.wake_at and run.zombie is not None:
        run.zombie.resume.set()
        # The fences of two runs wait for each other at the job's row, so one inside a transaction does not wait here.
        if not run.inside_transaction:
            await run.zombie.ended.wait()


class WatchedProtocol(asyncpg.protocol.Protocol):
    """asyncpg's own protocol, which lets the run at hand be disturbed before each statement."""

    async def query(self, query: Any, timeout: Any) -> Any:  # noqa: ASYNC109 - asyncpg's own signature
        if query.startswith(("BEGIN", "COMMIT", "ROLLBACK")):
            await reach(query.strip(";"))
        answer = await super().query(query, timeout)
        run = current_run()
        if run is not None:
            run.inside_transaction = self.is_in_transaction()
        return answer

    async def bind_execute(self, state: Any, *arguments: Any, **named: Any) -> Any:
        if not state.query.startswith("WITH RECURSIVE typeinfo_tree"):  # asyncpg's own, at the first use of a type
            await reach(" ".join(state.query.split())[:48])
        return await super().bind_execute(state, *arguments, **named)


class Watched:
    """An adapter of the outside, which lets the run at hand be disturbed before a call leaves and after its answer."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._inner, name)

        async def watched(*arguments: Any, **named: Any) -> Any:
            await reach(f"{name} sent")
            try:
                answer = await call(*arguments, **named)
            except Exception:
                await reach(f"{name} refused")
                raise
            await reach(f"{name} answered")
            return answer

        return watched
