"""Waiting for a fact under a deadline that explains itself."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

T = TypeVar("T")


@overload
async def eventually(
    probe: Callable[[], Awaitable[T | None]], *, what: str, within: float = ..., every: float = ...
) -> T: ...
@overload
async def eventually(
    probe: Callable[[], T | Awaitable[T]],
    *,
    until: Callable[[T], bool] = ...,
    what: str,
    within: float = ...,
    every: float = ...,
) -> T: ...
async def eventually(
    probe: Callable[[], Any],
    *,
    until: Callable[[Any], bool] = bool,
    what: str,
    within: float = 30.0,
    every: float = 0.05,
) -> Any:
    """Ask `probe` until its answer satisfies `until` (is truthy, if nothing else is said), and return that answer.

    Raises AssertionError after `within` seconds, with `what` was waited for and the last answer.
    """
    deadline = time.monotonic() + within
    while True:
        answer = probe()
        if inspect.isawaitable(answer):
            answer = await answer
        if until(answer):
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {within:g} s for this, in vain: {what}. The last look saw {answer!r:.500}")
        await asyncio.sleep(every)
