"""The limit of the database: rows marked five hundred at a time by an update that returns them, and no broker."""

from __future__ import annotations

import asyncio
import json
import os
import time

import asyncpg

_MARK = """
    UPDATE outbox SET published_at = now()
    WHERE id IN (
        SELECT id FROM outbox WHERE published_at IS NULL ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED
    )
    RETURNING id, aggregate_id, payload
"""


async def main() -> None:
    connection = await asyncpg.connect(os.environ["DSN"])
    mark = await connection.prepare(_MARK)
    began = time.perf_counter()
    marked = 0
    while rows := await mark.fetch():
        marked += len(rows)
    seconds = time.perf_counter() - began
    print(json.dumps({"rows_per_second": marked / seconds}))
    await connection.close()


if __name__ == "__main__":
    asyncio.run(main())
