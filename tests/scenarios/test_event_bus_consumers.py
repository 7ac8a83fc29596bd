"""Consumers that fail, die and get what nobody can read, on the real processes of each service.

An order's story gives each service an event to consume. A scenario writes that event again under another id, as its
publisher would for a second occurrence: known to no inbox, and of no further effect in the domain. So whether and when
it took effect shows in the inbox, and nothing that a scenario breaks on purpose touches the story of another order.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest

from service_platform.inbox import dead_letter_topic_of, retry_topic_of
from world.bus import Record
from world.databases import planted
from world.processes import kill
from world.story import PlacedOrder
from world.waiting import eventually
from world.world import World


@dataclass(frozen=True)
class Consumption:
    """One consumer of a service and the event that it reads."""

    consumer: str
    source: str
    event: str


CONSUMPTIONS = {
    "order": Consumption("order.record-invoice", "billing", "invoice.issued"),
    "payment": Consumption("payment.open-payment", "order", "order.placed"),
    "billing": Consumption("billing.record-placed-order", "order", "order.placed"),
}


@dataclass(frozen=True)
class Copy:
    """A copy of an order's event, under an id of its own, as it stands in the topic."""

    event_id: str
    record: Record


class Consuming:
    """What one service's consumer does with copies of one order's event."""

    def __init__(self, world: World, service: str, order: PlacedOrder, original: Record) -> None:
        self.world = world
        self.service = service
        self.order = order
        self.original = original
        self.of = CONSUMPTIONS[service]

    async def copy(self, event_id: str | None = None, *, value: bytes | None = None) -> Copy:
        """Publish the event again, as another one."""
        event_id = event_id or str(uuid4())
        headers = {**self.original.headers, "event-id": event_id.encode()}
        record = replace(self.original, headers=headers, value=self.original.value if value is None else value)
        return Copy(event_id, await self.world.bus.repeat(record))

    async def value(self, query: str, *values: Any) -> Any:
        return await self.world.databases.value(self.service, query, *values)

    async def handled_at(self, event_id: str) -> Any:
        """When it took effect, None when it has not."""
        return await self.value(
            "SELECT handled_at FROM inbox WHERE consumer = $1 AND source = $2 AND event_id::text = $3",
            self.of.consumer,
            self.of.source,
            event_id,
        )

    async def until_handled(self, event_id: str) -> Any:
        return await eventually(
            lambda: self.handled_at(event_id), what=f"{self.of.consumer} has handled event {event_id}"
        )

    async def letter(self, event_id: str) -> Any:
        """Its dead letter's row, if it has one."""
        rows = await self.world.databases.rows(
            self.service, "SELECT * FROM dead_letter WHERE event_id::text = $1 AND state = 'dead'", event_id
        )
        return rows[0] if rows else None

    async def until_buried(self, event_id: str) -> Any:
        return await eventually(lambda: self.letter(event_id), what=f"event {event_id} is a dead letter")

    async def until_passed(self, copy: Copy) -> None:
        """Wait until the group has finished with the record."""
        record = copy.record

        async def passed() -> bool:
            return await self.world.bus.committed(self.service, record.topic, record.partition) > record.offset

        await eventually(passed, what=f"{self.service} has passed {record.topic}/{record.partition}@{record.offset}")

    @contextlib.asynccontextmanager
    async def sick(self, event_id: str, *, failures: int) -> AsyncIterator[None]:
        """The transaction of this event fails at its COMMIT, with its effect done, so many times."""
        name = f"sick_{uuid4().hex[:8]}"
        plant = f"""
            CREATE SEQUENCE {name};
            GRANT USAGE ON {name} TO PUBLIC;
            CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('{name}') <= {failures} THEN
                    RAISE EXCEPTION 'sick by the scenario';
                END IF;
                RETURN NULL;
            END $$;
            CREATE CONSTRAINT TRIGGER {name} AFTER INSERT ON inbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
            WHEN (new.event_id = '{event_id}' AND new.consumer = '{self.of.consumer}') EXECUTE FUNCTION {name}();
        """
        remove = f"DROP TRIGGER {name} ON inbox; DROP FUNCTION {name}(); DROP SEQUENCE {name}"
        async with planted(self.world.databases, self.service, plant, remove):
            yield


async def consuming(world: World, service: str) -> Consuming:
    """The consumer of `service`, after the story of a new order has come to its end."""
    order = await world.story.place()
    await world.story.until_mailed(order)
    of = CONSUMPTIONS[service]
    records = await world.bus.records(f"events.{of.source}", order.id)
    (original,) = [record for record in records if record.header("event-name") == of.event]
    return Consuming(world, service, order, original)


@pytest.mark.scenario("event-bus/redelivery-then-dead-letter")
async def test_a_failing_consumer_is_retried_with_backoff_and_then_buried(world: World, service: str) -> None:
    consumer = await consuming(world, service)
    dead = str(uuid4())
    async with consumer.sick(dead, failures=1000):
        failing = await consumer.copy(dead)
        behind = await consumer.copy()
        letter = await consumer.until_buried(dead)
    await consumer.until_handled(behind.event_id)
    await consumer.until_passed(failing)
    attempts = json.loads(letter["history"])
    assert [attempt["attempt"] for attempt in attempts] == [1, 2, 3, 4, 5]
    assert all("sick by the scenario" in attempt["error"] for attempt in attempts)
    assert bytes(letter["payload"]) == failing.record.value
    wakes = [
        record
        for record in await world.bus.records(retry_topic_of(service), consumer.order.id)
        if record.header("event-id") == dead
    ]
    assert [wake.header("retry-attempts") for wake in wakes] == ["1", "2", "3", "4"], "one wake-up for each retry"

    async def copied() -> list[Record]:
        records = await world.bus.records(dead_letter_topic_of(service), consumer.order.id)
        return [record for record in records if record.header("dead-letter-id") == str(letter["id"])]

    (copy,) = await eventually(copied, what="its copy is in the dead-letter topic")
    assert copy.value == failing.record.value
    assert await consumer.handled_at(dead) is None
    assert await consumer.value("SELECT count(*) FROM retry_ledger") == 0
    for other in {"order", "payment", "billing"} - {service}:
        count = await world.databases.value(other, "SELECT count(*) FROM dead_letter WHERE event_id::text = $1", dead)
        assert count == 0, f"the failure of {service} was none of {other}"


@pytest.mark.scenario("event-bus/order-survives-retry")
async def test_what_follows_a_failed_event_takes_effect_after_it_and_other_keys_do_not_wait(
    world: World, service: str
) -> None:
    consumer = await consuming(world, service)
    other = await consuming(world, service)
    first = str(uuid4())
    async with consumer.sick(first, failures=2):
        failing = await consumer.copy(first)
        behind = [await consumer.copy() for _ in range(2)]
        beside = await other.copy()
        times = [await consumer.until_handled(copy.event_id) for copy in (failing, *behind)]
    assert times == sorted(times)
    assert await other.until_handled(beside.event_id) < times[0]
    for copy in (failing, *behind):
        await consumer.until_passed(copy)
    assert await consumer.value("SELECT count(*) FROM retry_ledger") == 0


@pytest.mark.scenario("event-bus/consumer-killed-mid-effect")
async def test_a_consumer_killed_between_effect_and_offset_has_one_effect(world: World, service: str) -> None:
    consumer = await consuming(world, service)

    async def killed_before_its_offset() -> Copy | None:
        copy = await consumer.copy()
        await consumer.until_handled(copy.event_id)
        kill(world.stack, f"{service}-consumer")
        committed = await world.bus.committed(service, copy.record.topic, copy.record.partition)
        return copy if committed <= copy.record.offset else None

    copy = await eventually(killed_before_its_offset, what="a kill falls between the effect and its offset")
    effects = await effects_of(consumer)
    await consumer.until_passed(copy)
    assert await effects_of(consumer) == effects, "delivered again, it changed nothing"


async def effects_of(consumer: Consuming) -> list[object]:
    """Every row version that tells of the order in the service's database."""
    tables = {
        "order": [
            "SELECT xmin::text FROM orders WHERE id::text = $1",
            "SELECT xmin::text FROM order_timeline WHERE order_id::text = $1",
        ],
        "payment": ["SELECT xmin::text FROM payments WHERE order_id::text = $1"],
        "billing": ["SELECT xmin::text FROM gathered_orders WHERE order_id::text = $1"],
    }
    queries = [*tables[consumer.service], "SELECT position::text FROM outbox WHERE key = $1"]
    rows = [await consumer.world.databases.rows(consumer.service, query, consumer.order.id) for query in queries]
    return [[tuple(row) for row in found] for found in rows]


@pytest.mark.scenario("event-bus/unparsable-is-buried")
async def test_bytes_that_nobody_can_parse_are_kept_and_the_partition_flows(world: World, service: str) -> None:
    consumer = await consuming(world, service)
    raw = b"\x00\xff no event " + uuid4().bytes
    unparsable = await consumer.copy(value=raw)
    nameless = await consumer.copy("no uuid", value=raw)
    behind = await consumer.copy()
    await consumer.until_handled(behind.event_id)
    letter = await consumer.until_buried(unparsable.event_id)
    assert (bytes(letter["payload"]), letter["consumer"], letter["attempts"]) == (raw, consumer.of.consumer, 1)
    origin = f"{nameless.record.topic}/{nameless.record.partition}@{nameless.record.offset} %"
    assert bytes(await consumer.value("SELECT payload FROM dead_letter WHERE origin LIKE $1", origin)) == raw
    for copy in (unparsable, nameless, behind):
        await consumer.until_passed(copy)


@pytest.mark.scenario("event-bus/requeue-runs-once")
async def test_a_requeued_dead_letter_takes_effect_once_or_not_at_all_if_it_had_already(
    world: World, service: str
) -> None:
    consumer = await consuming(world, service)
    dead, handled = str(uuid4()), str(uuid4())
    async with consumer.sick(dead, failures=1000), consumer.sick(handled, failures=1000):
        await consumer.copy(dead)
        await consumer.copy(handled)
        letters = [await consumer.until_buried(event_id) for event_id in (dead, handled)]
    await world.databases.execute(
        service,
        "INSERT INTO inbox VALUES ($1, $2, $3::text::uuid, now())",
        consumer.of.consumer,
        consumer.of.source,
        handled,
    )
    before = await effects_of(consumer)
    assert await world.operators.requeue(service, letters[1]["id"]) == "handled"
    assert await world.operators.requeue(service, letters[0]["id"]) == "requeued"
    await consumer.until_handled(dead)
    await eventually(
        lambda: consumer.value("SELECT count(*) = 0 FROM retry_ledger"), what=f"nothing is left to retry in {service}"
    )
    after = await effects_of(consumer)
    assert "dead-letter-resolved" in await world.operators.requeue(service, letters[0]["id"])
    again = await consumer.copy(dead)
    await consumer.until_passed(again)
    assert await effects_of(consumer) == after
    if service == "order":
        assert after != before, "it took effect: the timeline has one more entry"
        assert len(after[1]) == len(before[1]) + 1
