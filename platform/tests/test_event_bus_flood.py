"""Ten thousand events over a thousand keys while one in twenty fails at first: each takes effect once, and in order."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random
from typing import Any

import pytest
from bus_lab import event_class, relaying_to_kafka
from consuming_lab import Owner, consuming, effects_of, publish, running, write_effect

from service_platform.database import Database
from service_platform.event_bus import Delivery
from world.waiting import eventually

_KEYS = 1_000
_EVENTS_A_KEY = 10
_FAILING_FIRST = 0.05


@pytest.mark.usefixtures("effect_table")
async def test_a_flood_with_failures_takes_effect_once_each_and_in_order(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    names = [(f"k{key}", number) for number in range(_EVENTS_A_KEY) for key in range(_KEYS)]
    rounds = [names[start : start + _KEYS] for start in range(0, len(names), _KEYS)]
    failing = set(Random(5).sample(names, int(len(names) * _FAILING_FIRST)))
    tries: Counter[tuple[str, int]] = Counter()
    take_effect = write_effect(database)

    async def handle(delivery: Delivery[Any]) -> None:
        name = (delivery.event.thing_id, delivery.event.number)
        tries[name] += 1
        if name in failing and tries[name] == 1:
            raise RuntimeError(f"not at first: {name}")
        await take_effect(delivery)

    for events in rounds:
        await publish(database, kafka, owner, *(happened(thing_id=key, number=number) for key, number in events))
    consumer = consuming(happened, "c", handle)
    async with (
        relaying_to_kafka(database, kafka, poll_seconds=0.05),  # the retries
        running(database, kafka, source, consumer),
    ):
        await eventually(
            lambda: owner.fetchval("SELECT count(*) FROM effect"),
            until=lambda n: n >= len(names) // 4,
            within=120,
            what="a quarter has taken effect",
        )
        async with running(database, kafka, source, consumer):  # takes over some of the partitions meanwhile
            await eventually(
                lambda: owner.fetchval("SELECT count(*) FROM effect"),
                until=lambda n: n >= len(names),
                within=120,
                what="all have taken effect",
            )
            await eventually(
                lambda: owner.fetchval("SELECT count(*) FROM retry_ledger"),
                until=lambda n: n == 0,
                what="no retry is left",
            )
    effects = await effects_of(owner)
    assert sorted(effects) == sorted(names), "each once"
    of_key: dict[str, list[int]] = defaultdict(list)
    for key, number in effects:
        of_key[key].append(number)
    assert all(numbers == sorted(numbers) for numbers in of_key.values())
    assert all(tries[name] >= 2 for name in failing)
    assert await owner.fetchval("SELECT count(*) FROM dead_letter") == 0
