"""What every program does that enqueues jobs to be measured; of the standard library alone, for peers run it, too.

Told by ENQUEUE (see `Orders`). Prints a line after the warm-up, waits for one, enqueues the jobs, and prints when each
was safely enqueued.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

Enqueue = Callable[[int], Awaitable[None]]


@dataclass(frozen=True)
class Orders:
    """`warm_ups` jobs with numbers below zero, then `jobs` numbered from 1: `rate` a second, 0 as fast as they go.

    As fast as they go means `at_once` at a time, as in an API that has so many requests at once.
    """

    warm_ups: int
    jobs: int
    rate: float
    at_once: int


async def serve(enqueue: Enqueue) -> None:
    """Enqueue as ordered; `enqueue` returns when its job is safely enqueued."""
    orders = Orders(**json.loads(os.environ["ENQUEUE"]))
    await _enqueue_all(enqueue, range(-orders.warm_ups, 0), orders.at_once)
    print("warm", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    jobs = range(1, orders.jobs + 1)
    if orders.rate:
        enqueued = await _enqueue_at_rate(enqueue, jobs, orders.rate)
    else:
        enqueued = await _enqueue_all(enqueue, jobs, orders.at_once)
    print(json.dumps(enqueued), flush=True)


async def _enqueue_all(enqueue: Enqueue, numbers: Iterable[int], at_once: int) -> list[tuple[int, float, float]]:
    """By job: its number, when its enqueuing began and ended (seconds since the epoch)."""
    left, enqueued = iter(numbers), []

    async def one_by_one() -> None:
        for number in left:
            begun = time.time()
            await enqueue(number)
            enqueued.append((number, begun, time.time()))

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(one_by_one())
    return enqueued


async def _enqueue_at_rate(enqueue: Enqueue, numbers: Iterable[int], rate: float) -> list[tuple[int, float, float]]:
    """Each at its own time, however long those before it took."""
    enqueued = []
    start = time.monotonic() + 0.01
    for count, number in enumerate(numbers):
        if (early := start + count / rate - time.monotonic()) > 0:
            await asyncio.sleep(early)
        begun = time.time()
        await enqueue(number)
        enqueued.append((number, begun, time.time()))
    return enqueued
