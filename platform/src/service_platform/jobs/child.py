"""What a child process of a worker lives on: its own event loop, database and processors, made after the fork."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

from service_platform.database import Database
from service_platform.outbox import WakeUp
from service_platform.settings import ServiceSettings

from .drain import Drain
from .keeper import LeaseKeeper
from .processor import FencedProcessor
from .runner import JobRunner

if sys.platform != "win32":
    from uvloop import new_event_loop
else:
    from asyncio import new_event_loop

Processors = Callable[[Database], AbstractAsyncContextManager[Sequence[FencedProcessor[Any]]]]
"""Builds the processors of a service on the given database, and closes what they used at the end of the block."""

_STOP_SECONDS = 5.0
CHILD_POOL_SIZE = 2
"""A child runs one job at a time: a connection for its work, and one for what the work may read beside it."""


class ChildProcess:
    """Runs jobs, one at a time, on an event loop in a thread of its own.

    The loop lives as long as the process, so that what belongs to it (connections, the outbox's wake-up) goes on
    between two jobs.
    """

    def __init__(self, settings: ServiceSettings, processors: Processors, drain: Drain) -> None:
        self._settings = settings
        self._processors = processors
        self._drain = drain
        self._ready: Future[tuple[JobRunner, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=self._live, name="jobs", daemon=True)

    def start(self) -> None:
        """Compose everything; raises what went wrong with it."""
        self._thread.start()
        self._ready.result()

    def run(self, kind: str, job_id: UUID) -> None:
        """Run one delivery to its end."""
        runner, loop, _ = self._ready.result()
        asyncio.run_coroutine_threadsafe(runner.run(kind, job_id), loop).result()

    def stop(self) -> None:
        """Close connections and clients, if that takes no longer than a few seconds."""
        if self._ready.done() and self._ready.exception() is None:
            _, loop, stopping = self._ready.result()
            loop.call_soon_threadsafe(stopping.set)
            self._thread.join(_STOP_SECONDS)

    def _live(self) -> None:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            try:
                runner.run(self._work())
            except Exception as error:
                if self._ready.done():
                    raise
                self._ready.set_exception(error)

    async def _work(self) -> None:
        name = f"{self._settings.service_name} worker"
        address = self._settings.database_address()
        database = Database(address, application_name=name, pool_size=CHILD_POOL_SIZE)
        keeper = LeaseKeeper(address, application_name=name, drain=self._drain)
        keeper.start()
        try:
            async with self._processors(database) as processors:
                stopping = asyncio.Event()
                runner = JobRunner(database, processors, leases=keeper)
                wake_up = WakeUp(database)
                self._ready.set_result((runner, asyncio.get_running_loop(), stopping))
                await wake_up.run(stopping)
        finally:
            keeper.stop()
            await database.close()
