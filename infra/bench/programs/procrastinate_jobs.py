"""procrastinate's jobs that do nothing: `worker` runs ten at a time, `enqueue` defers each in a transaction."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

import procrastinate

from bench import enqueuing

# It warns of an app in the main module, whose tasks might have two names: ours has one, given by hand.
logging.getLogger("procrastinate").setLevel(logging.ERROR)
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=os.environ["DSN"], min_size=2, max_size=15))


@app.task(name="nothing", queue="bench")
async def nothing(number: int) -> None:
    del number


async def enqueue(number: int) -> None:
    await nothing.defer_async(number=number)


async def main() -> None:
    async with app.open_async():
        match sys.argv[1]:
            case "make-tables":
                await app.schema_manager.apply_schema_async()
            case "worker":
                await app.run_worker_async(queues=["bench"], concurrency=10)
            case _:
                await enqueuing.serve(enqueue)


if __name__ == "__main__":
    asyncio.run(main())
