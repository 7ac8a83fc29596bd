"""What came to a topic, read after the fact: when each row was there, whether all are, and in which order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from service_platform.event_bus import topic_of

from .workload import PARTITIONS

_ANSWER_SECONDS = 10.0
_LEADER_SECONDS = 60.0
_NOT_YET = {KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.UNKNOWN_TOPIC_OR_PART}
_READ_SECONDS = 120.0


class TopicUnread(Exception):
    """The broker did not give all that it said it has."""


@dataclass
class Arrivals:
    """The rows of one topic. Rows of a warm-up are left out everywhere."""

    first: dict[int, float] = field(default_factory=dict)
    """By `seq`: when it first was in the log, on the broker's clock, in seconds since the epoch."""
    duplicates: int = 0
    out_of_order: int = 0
    """First arrivals behind a later row of their aggregate: what no inbox can mend."""
    _last: dict[str, tuple[int, int]] = field(default_factory=dict)

    def note(self, partition: int, seq: int, aggregate: str, number: int, at: float) -> None:
        """One record; those of a partition in the order of their offsets."""
        if seq < 0:
            return
        if seq in self.first:
            self.duplicates += 1
            return
        self.first[seq] = at
        home, last = self._last.get(aggregate, (partition, 0))
        if home != partition or number < last:
            self.out_of_order += 1
        self._last[aggregate] = (partition, max(number, last))

    def lost(self, expected: int) -> int:
        """How many of the rows 1 to `expected` never came."""
        return expected - len(self.first)

    def steady_rate(self) -> float | None:
        """Rows a second between the fifth and the last fifth, by the broker's clock.

        None when that took too little time to tell.
        """
        times = sorted(self.first.values())
        if not times:
            return None
        begin, end = times[len(times) // 5], times[len(times) * 4 // 5]
        # A batch arrives at one instant, so what is counted is what came between the two instants.
        between = sum(begin < at <= end for at in times)
        return between / (end - begin) if end - begin > 0.01 else None


class TopicReader:
    """Looks at one topic from outside of any group."""

    def __init__(self, bootstrap_servers: str, source: str) -> None:
        self._topic = topic_of(source)
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "bench-reader",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 50,
                "log_level": 0,
            }
        )

    def count(self) -> int:
        """How many records the topic holds now."""
        return sum(self._ends())

    def read(self) -> Arrivals:
        """Everything that the topic holds now.

        Raises:
            TopicUnread: it did not come within two minutes.
        """
        left = self.count()
        arrivals = Arrivals()
        self._consumer.assign([TopicPartition(self._topic, number, 0) for number in range(PARTITIONS)])
        deadline = time.monotonic() + _READ_SECONDS
        while left:
            for message in self._consumer.consume(min(left, 10_000), timeout=1.0):
                _note(arrivals, message)
                left -= 1
            if time.monotonic() > deadline:
                raise TopicUnread(f"{left} records of {self._topic} were not to be had in {_READ_SECONDS:.0f} s")
        self._consumer.unassign()
        return arrivals

    def close(self) -> None:
        self._consumer.close()

    def _ends(self) -> Sequence[int]:
        return [self._end(TopicPartition(self._topic, number)) for number in range(PARTITIONS)]

    def _end(self, partition: TopicPartition) -> int:
        deadline = time.monotonic() + _LEADER_SECONDS
        while True:
            try:
                _, end = self._consumer.get_watermark_offsets(partition, timeout=_ANSWER_SECONDS, cached=False)
            except KafkaException as error:
                # A topic that was just made may not be known yet to the broker that made it.
                if error.args[0].code() not in _NOT_YET or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return end


def _note(arrivals: Arrivals, message: Message) -> None:
    if (error := message.error()) is not None:
        raise TopicUnread(str(error))
    content = orjson.loads(message.value() or b"")
    _, milliseconds = message.timestamp()
    partition = message.partition()
    assert partition is not None
    arrivals.note(partition, content["seq"], content["aggregate"], content["number"], milliseconds / 1000)
