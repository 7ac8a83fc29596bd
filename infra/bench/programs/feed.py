"""Commits rows at a steady rate to one contestant's outbox, as the service whose outbox it is would.

Told by FEED. Prints a line after the warm-up, waits for one, commits the rows, and prints when each was committed.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence

import uvloop

from bench.contestants import CONTESTANTS, Feed
from bench.lab import Lab
from bench.settings import BenchSettings
from bench.workload import Row, rows, warm_up_rows


async def main() -> None:
    told = json.loads(os.environ["FEED"])
    kind = next(kind for kind in CONTESTANTS if kind.name == told["contestant"])
    contestant = kind(Lab(BenchSettings(**told["settings"])))
    async with contestant.open_feed(told["source"]) as feed:
        await commit(feed, warm_up_rows(told["warm_ups"]), told["rate"])
        print("warm", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        committed = await commit(feed, rows(told["rows"]), told["rate"])
    print(json.dumps(committed), flush=True)


async def commit(feed: Feed, some: Sequence[Row], rate: float) -> list[tuple[int, int, int]]:
    """Each row at its own time, however long those before it took; by row: `seq`, begun, committed (monotonic ns)."""
    committed = []
    start = time.monotonic() + 0.01
    for count, row in enumerate(some):
        if (early := start + count / rate - time.monotonic()) > 0:
            await asyncio.sleep(early)
        begun = time.monotonic_ns()
        await feed.commit(row)
        committed.append((row.seq, begun, time.monotonic_ns()))
    return committed


if __name__ == "__main__":
    uvloop.run(main())
