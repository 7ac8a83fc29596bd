"""Notes when each row of a topic becomes visible to a consumer. Prints a line when it reads, and its notes when told to
end by a line on its input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time

import orjson
from confluent_kafka import Consumer, TopicPartition

from bench.workload import PARTITIONS


def main() -> None:
    consumer = Consumer(
        {"bootstrap.servers": os.environ["KAFKA"], "group.id": "bench-watch", "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition(os.environ["TOPIC"], number, 0) for number in range(PARTITIONS)])
    consumer.poll(0)
    stop = threading.Event()

    def wait_for_the_line() -> None:
        sys.stdin.readline()
        stop.set()

    threading.Thread(target=wait_for_the_line, daemon=True).start()
    print("reading", flush=True)
    seen: dict[int, int] = {}
    while not stop.is_set():
        message = consumer.poll(0.1)
        if message is None or message.error() is not None:
            continue
        now = time.monotonic_ns()
        seen.setdefault(orjson.loads(message.value() or b"")["seq"], now)
    consumer.close()
    print(json.dumps([(seq, at) for seq, at in seen.items() if seq > 0]), flush=True)


if __name__ == "__main__":
    main()
