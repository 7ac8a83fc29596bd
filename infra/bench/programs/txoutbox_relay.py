"""txoutbox's relay as its documentation shows it, with larger batches: aiokafka, every message awaited."""

from __future__ import annotations

import asyncio
import os

import asyncpg
from aiokafka import AIOKafkaProducer
from txoutbox import OutboxMessage, Relay, RelayConfig
from txoutbox.adapters.postgres import PostgresStorage


async def main() -> None:
    pool = await asyncpg.create_pool(os.environ["DSN"], min_size=2, max_size=5)
    storage = PostgresStorage(pool, table="tx_outbox", notify_channel="tx_outbox")
    if "MAKE_TABLES" in os.environ:
        await storage.create_schema()
        return
    producer = AIOKafkaProducer(bootstrap_servers=os.environ["KAFKA"], acks="all")
    await producer.start()

    async def publish(message: OutboxMessage) -> None:
        key = message.key.encode() if message.key else None
        await producer.send_and_wait(message.topic, message.payload, key=key)

    relay = Relay(storage, publish, config=RelayConfig(batch_size=1_000, concurrency=500))
    _listener = await storage.listen(relay.wake)
    await relay.run(handle_signals=True)


if __name__ == "__main__":
    asyncio.run(main())
