"""Waiting without missing a stop, and how long to wait after a failure."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator


async def wait_for_any(*events: asyncio.Event, seconds: float) -> None:
    """Return when one of `events` is set or `seconds` have passed."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


@contextlib.asynccontextmanager
async def passed_on(first: asyncio.Event, *, to: asyncio.Event) -> AsyncIterator[None]:
    """Within the block `to` is set when `first` is. A loop that waits often then waits for one event, with no tasks."""

    async def pass_on() -> None:
        await first.wait()
        to.set()

    passing = asyncio.ensure_future(pass_on())
    try:
        yield
    finally:
        passing.cancel()


class Backoff:
    """Growing pauses with full jitter, from `first` to `limit` seconds."""

    def __init__(self, first: float, limit: float) -> None:
        self._first = first
        self._limit = limit
        self._failures = 0

    @property
    def failures(self) -> int:
        """How often it failed since the last success."""
        return self._failures

    def failed(self) -> float:
        """Count a failure; how long to pause. Never less than half of `first`, so that nothing spins."""
        ceiling = min(self._limit, self._first * 2.0 ** min(self._failures, 30))
        self._failures += 1
        return max(self._first / 2, random.uniform(0, ceiling))

    def succeeded(self) -> None:
        """Start again at `first`."""
        self._failures = 0
