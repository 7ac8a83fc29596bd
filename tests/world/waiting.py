"""Waiting for a fact under a deadline that explains itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

_EVERY_SECONDS = 0.05


async def eventually(probe: Callable[[], Awaitable[T | None]], *, what: str, within: float = 30.0) -> T:
    """Ask `probe` until its answer is truthy, and return that answer.

    Raises AssertionError after `within` seconds, with `what` was waited for and the last answer.
    """
    deadline = time.monotonic() + within
    while True:
        answer = await probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {within:.0f} s for this, in vain: {what}. The last look saw {answer!r}")
        await asyncio.sleep(_EVERY_SECONDS)
