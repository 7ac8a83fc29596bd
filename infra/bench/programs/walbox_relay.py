"""walbox's client with a handler that sends on to Kafka, and saves a checkpoint once a hundred sends are through.

Sends are not awaited one by one; what stays open is settled every 20 ms, so that a quiet stream is not left hanging.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from aiokafka import AIOKafkaProducer
from psycopg_pool import AsyncConnectionPool
from walbox import ChangeKind, Walbox, WalboxOptions

_SENDS_A_CHECKPOINT = 100
_SETTLE_EVERY_SECONDS = 0.02


class Forwarder:
    """Sends each inserted row to the topic, in the order of the log."""

    def __init__(self, producer: AIOKafkaProducer) -> None:
        self._producer = producer
        self._sends: list[asyncio.Future[Any]] = []
        self._last: Any = None
        self._settling = asyncio.Lock()

    async def handle(self, transaction: Any, checkpoint: Any) -> None:
        for change in transaction.changes:
            if change.kind == ChangeKind.INSERT:
                send = await self._producer.send(
                    os.environ["TOPIC"], change.new["payload"].encode(), key=change.new["aggregate_id"].encode()
                )
                self._sends.append(send)
        self._last = checkpoint, transaction.commit_lsn
        if len(self._sends) >= _SENDS_A_CHECKPOINT:
            await self.settle()

    async def settle(self) -> None:
        """Wait for what is under way, then save how far that is."""
        async with self._settling:
            sends, self._sends = self._sends, []
            last, self._last = self._last, None
            if last is not None:
                await asyncio.gather(*sends)
                checkpoint, position = last
                await checkpoint.save(position)

    async def keep_settling(self) -> None:
        while True:
            await asyncio.sleep(_SETTLE_EVERY_SECONDS)
            await self.settle()


async def main() -> None:
    producer = AIOKafkaProducer(bootstrap_servers=os.environ["KAFKA"], acks="all", enable_idempotence=True)
    await producer.start()
    pool = AsyncConnectionPool(os.environ["DSN"], min_size=1, max_size=2, open=False)
    await pool.open()
    options = WalboxOptions(
        consumer_name="bench",
        dsn=os.environ["DSN"],
        slot_name="bench_walbox",
        publication_name="bench_walbox",
        max_pending_transactions=1_000,
        status_interval=1,
    )
    forwarder = Forwarder(producer)
    async with asyncio.TaskGroup() as group:
        group.create_task(forwarder.keep_settling())
        group.create_task(Walbox.build_with_pool(options, pool).run(forwarder.handle))


if __name__ == "__main__":
    asyncio.run(main())
