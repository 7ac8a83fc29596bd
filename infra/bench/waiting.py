"""Waiting for a fact under a deadline that explains itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from .processes import Running


class Unfinished(Exception):
    """Something did not come true in time."""


async def until(
    holds: Callable[[], Awaitable[bool]],
    what: str,
    *,
    within: float,
    every: float = 0.03,
    while_alive: Sequence[Running] = (),
) -> None:
    """Ask `holds` until it says yes.

    Raises:
        Unfinished: it did not within `within` seconds.
        ProcessEnded: one of the processes that it depends on ended.
    """
    deadline = time.monotonic() + within
    while not await holds():
        for process in while_alive:
            process.check()
        if time.monotonic() > deadline:
            raise Unfinished(f"not within {within:.0f} s: {what}")
        await asyncio.sleep(every)
