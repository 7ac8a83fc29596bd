"""faststream-outbox's relay as its documentation shows it, with thirty-two workers and large batches."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from faststream import FastStream
from faststream.kafka import KafkaBroker, KafkaResponse
from faststream_outbox import OutboxBroker, make_outbox_table
from sqlalchemy import MetaData
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

_WORKERS = 32


async def make_tables(engine: AsyncEngine, metadata: MetaData) -> None:
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)


def main() -> None:
    metadata = MetaData()
    table = make_outbox_table(metadata, table_name="fs_outbox")
    address = os.environ["DSN"].replace("postgresql://", "postgresql+asyncpg://")
    engine = create_async_engine(address, pool_size=_WORKERS + 5)
    if "MAKE_TABLES" in os.environ:
        asyncio.run(make_tables(engine, metadata))
        return
    outbox = OutboxBroker(engine, outbox_table=table, logger=None)
    kafka = KafkaBroker(os.environ["KAFKA"], acks="all", logger=None)

    @kafka.publisher(os.environ["TOPIC"])
    @outbox.subscriber("measured", max_workers=_WORKERS, fetch_batch_size=1_000, terminal_flush_batch_size=100)
    async def relay(body: dict[str, Any]) -> KafkaResponse:
        return KafkaResponse(body, key=body["aggregate"].encode())

    asyncio.run(FastStream(outbox, on_startup=[kafka.connect], logger=None).run())


if __name__ == "__main__":
    main()
