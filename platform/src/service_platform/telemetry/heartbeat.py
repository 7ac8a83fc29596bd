"""A file that says a process is alive and ready, for processes that have no port to ask."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

_INTERVAL_SECONDS = 1.0


def write_heartbeat(path: Path, *, ready: bool) -> None:
    """Write `{"pid", "ready", "at"}` to `path` in one step; `at` is in seconds since the epoch.

    A reader never sees half of it. What beats must prove life: call it from the loop that does the work.
    """
    beat = {"pid": os.getpid(), "ready": ready, "at": round(time.time(), 3)}
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    staged.write_text(json.dumps(beat))
    staged.replace(path)


class Heartbeat:
    """Beats once a second on the event loop: a loop that is blocked or dead stops beating.

    `ready` is asked at each beat; it answers from memory and does not block.
    """

    def __init__(self, path: Path, ready: Callable[[], bool]) -> None:
        self._path = path
        self._ready = ready

    async def run(self, stop: asyncio.Event) -> None:
        """Beat until `stop`, then take the file away, so that nobody takes a stopped process for a live one."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            while not stop.is_set():
                write_heartbeat(self._path, ready=self._ready())
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), _INTERVAL_SECONDS)
        finally:
            self._path.unlink(missing_ok=True)
