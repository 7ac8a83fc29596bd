"""What a process is for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Body = Callable[[asyncio.Event], Awaitable[None]]
"""The work of a process: runs until the event is set, finishes or hands back what it has in hand, and returns."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a process does until it is told to stop, and whether it can do it now."""

    body: Body
    ready: Callable[[], bool]
