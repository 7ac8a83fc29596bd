"""The limit of Kafka's client and broker: the rows produced as fast as they go, with one flush, and no database."""

from __future__ import annotations

import json
import os
import time

from confluent_kafka import KafkaError, Message, Producer

from bench.workload import rows

_TIMES = 4  # the same rows, over and over: once takes too short a time to measure


def main() -> None:
    topic = os.environ["TOPIC"]
    records = [(row.aggregate, row.payload()) for row in rows(int(os.environ["ROWS"]))]
    producer = Producer(
        {
            "bootstrap.servers": os.environ["KAFKA"],
            "acks": "all",
            "enable.idempotence": True,
            "linger.ms": 5,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    producer.list_topics(topic, timeout=10)
    acknowledged = 0

    def note(error: KafkaError | None, _message: Message) -> None:
        nonlocal acknowledged
        acknowledged += error is None

    began = time.perf_counter()
    for _ in range(_TIMES):
        for count, (aggregate, payload) in enumerate(records):
            producer.produce(topic, payload, aggregate, on_delivery=note)
            if count % 1_000 == 0:
                producer.poll(0)
    producer.flush()
    seconds = time.perf_counter() - began
    if acknowledged != _TIMES * len(records):
        raise RuntimeError(f"{acknowledged} of {_TIMES * len(records)} records were acknowledged")
    print(json.dumps({"rows_per_second": acknowledged / seconds}))


if __name__ == "__main__":
    main()
