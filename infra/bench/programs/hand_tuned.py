"""A relay tuned by hand and nothing else: read a thousand rows, produce them, flush once, mark them by one update.

A session lock lets one relay work at a time, which keeps the order. Any error ends it.
"""

from __future__ import annotations

import asyncio
import os

import asyncpg
from confluent_kafka import KafkaError, Message, Producer

_BATCH = 1_000
_POLL_SECONDS = 0.05
_LOCK = 4711


async def main() -> None:
    topic = os.environ["TOPIC"]
    connection = await asyncpg.connect(os.environ["DSN"])
    await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
    producer = Producer(
        {
            "bootstrap.servers": os.environ["KAFKA"],
            "acks": "all",
            "enable.idempotence": True,
            "linger.ms": 5,
            "queue.buffering.max.messages": 200_000,
        }
    )
    failures: list[KafkaError] = []

    def note(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            failures.append(error)

    read = await connection.prepare(
        f"SELECT id, aggregate_id, payload FROM outbox WHERE published_at IS NULL ORDER BY id LIMIT {_BATCH}"
    )
    mark = await connection.prepare("UPDATE outbox SET published_at = now() WHERE id = ANY ($1::bigint[])")
    while True:
        rows = await read.fetch()
        if not rows:
            await asyncio.sleep(_POLL_SECONDS)
            continue
        for _, aggregate, payload in rows:
            producer.produce(topic, payload, aggregate, on_delivery=note)
        producer.flush()
        if failures:
            raise RuntimeError(failures[0])
        await mark.fetch([row[0] for row in rows])


if __name__ == "__main__":
    asyncio.run(main())
