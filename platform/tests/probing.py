"""Waiting in tests: a predicate under a deadline that explains itself."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def eventually(
    probe: Callable[[], T | Awaitable[T]],
    *,
    until: Callable[[T], bool] = bool,
    within: float = 15.0,
    what: str,
    every: float = 0.02,
) -> T:
    """Ask `probe` until its answer satisfies `until`; fail with `what` and the last answer after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        answer = probe()
        value: T = await answer if inspect.isawaitable(answer) else answer  # type: ignore[assignment]
        if until(value):
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"within {within} s this did not happen: {what}. Last seen: {value!r:.500}")
        await asyncio.sleep(every)
