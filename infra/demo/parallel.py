"""Bounded concurrency: so many workers over one list."""

from asyncio import TaskGroup
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


async def in_parallel(
    items: Iterable[ItemT], work: Callable[[ItemT], Awaitable[ResultT]], *, at_once: int
) -> list[ResultT]:
    """The results of `work` for each item, in no certain order, `at_once` items at a time, begun in the items' order.

    The first error stops the others and is raised as it is.
    """
    waiting = iter(items)
    results: list[ResultT] = []

    async def worker() -> None:
        for item in waiting:
            results.append(await work(item))

    try:
        async with TaskGroup() as workers:
            for _ in range(at_once):
                workers.create_task(worker())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return results
