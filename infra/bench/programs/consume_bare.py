"""The limit of consuming: the statements of claim and effect, on as many connections, with asyncpg and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from uuid import uuid4

import asyncpg
import uvloop

from bench.effects import INSERT_EFFECT
from bench.workload import Row, rows
from service_platform.database import DatabaseAddress

_CLAIM = "SELECT inbox_claim('order.write-effect', 'bench-bare', $1, $2)"


async def main() -> None:
    told = json.loads(os.environ["CONSUME_BARE"])
    address = DatabaseAddress(**told["address"])
    left = iter(rows(told["rows"]))
    async with asyncio.TaskGroup() as group:
        for _ in range(told["connections"]):
            group.create_task(consume(address, left))


async def consume(address: DatabaseAddress, left: Iterator[Row]) -> None:
    connection = await asyncpg.connect(
        **address.driver_arguments(),
        server_settings={"jit": "off"},
    )
    claim, effect = await connection.prepare(_CLAIM), await connection.prepare(INSERT_EFFECT)
    for row in left:
        async with connection.transaction():
            if await claim.fetchval(row.aggregate, uuid4()) != "claimed":
                raise RuntimeError(f"row {row.seq} was not claimed")
            await effect.fetch(row.seq, row.aggregate, row.fields()["amount_minor"])
    await connection.close()


if __name__ == "__main__":
    uvloop.run(main())
