"""What is sent: the same rows for every contestant, about 400 bytes each, drawn with a fixed seed."""

from __future__ import annotations

import random
from typing import Any, ClassVar, Literal, NamedTuple

from service_platform.event_bus import Event

AGGREGATES = 1_000
PARTITIONS = 3
_SEED = 42
_NOTE = "".join(random.Random(_SEED).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=265))


class Measured(Event):
    """The event that carries a row. A topic of its own needs a source of its own: see `measured_by`."""

    event_name: ClassVar[Literal["bench.measured"]] = "bench.measured"
    version: ClassVar[int] = 1
    source: ClassVar[str] = "bench"
    key_field: ClassVar[str] = "aggregate"

    aggregate: str
    seq: int
    number: int
    customer: str
    amount_minor: int
    currency: str
    note: str


class Row(NamedTuple):
    """One thing to send: `seq` tells it from all others, `number` counts within its aggregate from 1.

    A `seq` below zero is a warm-up, which nobody counts.
    """

    seq: int
    aggregate: str
    number: int

    def fields(self) -> dict[str, Any]:
        return {
            "aggregate": self.aggregate,
            "seq": self.seq,
            "number": self.number,
            "customer": f"customer-{self.seq % 977}",
            "amount_minor": self.seq % 10_000,
            "currency": "EUR",
            "note": _NOTE,
        }

    def payload(self) -> str:
        """The JSON that every contestant is to bring to Kafka."""
        return Measured.create(**self.fields()).model_dump_json()


def measured_by(publisher: str) -> type[Measured]:
    """The event class of one measurement, whose topic is `topic_of(publisher)`."""

    class MeasuredHere(Measured):
        source: ClassVar[str] = publisher

    return MeasuredHere


def rows(count: int) -> list[Row]:
    """`count` rows, numbered from 1, over `AGGREGATES` aggregates drawn evenly."""
    draw = random.Random(_SEED)
    numbers: dict[int, int] = {}
    drawn = []
    for seq in range(1, count + 1):
        aggregate = draw.randrange(AGGREGATES)
        numbers[aggregate] = numbers.get(aggregate, 0) + 1
        drawn.append(Row(seq, f"aggregate-{aggregate:04}", numbers[aggregate]))
    return drawn


def warm_up_rows(count: int) -> list[Row]:
    """`count` rows that only show that a contestant is at work."""
    return [Row(-seq, f"warm-up-{seq:04}", 1) for seq in range(1, count + 1)]
