"""What a service's relay does while a transaction waits, when Kafka refuses a record, and when it is killed.

Where messages are a scenario's own, they are written in transactions of the service's role, for a topic that no
consumer of the suite reads; `k1/e2` is a record of the key k1.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import pytest

from service_platform.outbox import append, release
from world.bus import Record
from world.outboxes import message
from world.processes import kill
from world.story import order_body
from world.waiting import eventually
from world.world import World


def names_of(records: Sequence[Record], key: str) -> list[str]:
    """The names of the key's records in the order of arrival, without repetitions: what an inbox lets through."""
    names = dict.fromkeys(record.value.decode() for record in records)
    return [name for name in names if name.startswith(f"{key}/")]


_WAITS_FOR_A_KEY = """
    SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@pytest.mark.scenario("event-bus/commit-order-kept")
async def test_events_of_a_key_go_out_as_their_transactions_commit_and_none_of_a_gap_is_skipped(
    world: World, service: str
) -> None:
    published, committed = asyncio.Event(), asyncio.Event()

    async def publish_first_commit_last(topic: str) -> None:
        async with world.outboxes.transaction(service) as tx:
            append(message(topic, "k/published first"), tx)
            published.set()
            await committed.wait()

    async def publish_last_commit_first(topic: str) -> None:
        await published.wait()
        await world.outboxes.commit(service, topic, ["k/published last"])
        committed.set()

    async with world.bus.topic() as topic:
        await asyncio.gather(publish_first_commit_last(topic), publish_last_commit_first(topic))
        await world.outboxes.until_sent(service, topic)
        assert names_of(await world.bus.everything(topic), "k") == ["k/published last", "k/published first"]

        gap = await world.databases.another(service)
        async with gap.transaction():
            await gap.execute(
                "SELECT outbox_append(ARRAY['kafka'], ARRAY[$1], ARRAY[''], ARRAY['gap'], ARRAY[gen_random_uuid()], "
                "ARRAY['{}'], ARRAY['gap/low'::bytea], ARRAY[NULL::timestamptz])",
                topic,
            )
            await world.outboxes.commit(service, topic, ["other/high"])
            behind = asyncio.create_task(world.outboxes.commit(service, topic, ["gap/high"]))

            async def waits_or_is_through() -> bool:
                return behind.done() or bool(await world.databases.value(service, _WAITS_FOR_A_KEY))

            await eventually(waits_or_is_through, what="the next event of the key waits for the commit before it")
            await world.outboxes.until_sent(service, topic)
        await behind
        await gap.close()
        await world.outboxes.until_sent(service, topic)
        everything = await world.bus.everything(topic)
    assert names_of(everything, "other") == ["other/high"]
    assert names_of(everything, "gap") == ["gap/low", "gap/high"], "a lower number was passed before it could be seen"


@pytest.mark.scenario("event-bus/unsendable-holds-its-aggregate-only")
async def test_a_record_that_kafka_refuses_is_parked_its_key_waits_and_release_sends_in_order(
    world: World, service: str
) -> None:
    large = "k1/large" + "." * 30_000
    async with world.bus.topic(max_message_bytes=20_000) as topic:
        await world.outboxes.commit(service, topic, ["k1/before", large, "k1/after", "k2/e1"])

        async def parked() -> bool:
            return (await world.outboxes.queued(service, topic)).parked == 1

        await eventually(parked, what=f"{service}'s relay has parked what is too large")
        await world.outboxes.commit(service, topic, ["k1/last", "k2/e2"])

        async def others_flow() -> bool:
            return names_of(await world.bus.everything(topic), "k2") == ["k2/e1", "k2/e2"]

        await eventually(others_flow, what="the other key's records go through")
        assert names_of(await world.bus.everything(topic), "k1") == ["k1/before"]
        queued = await world.outboxes.queued(service, topic)
        assert (queued.rows, queued.refused) == (3, 1), "what waits behind it was not tried"

        await world.bus.limit(topic, 1_000_000)
        query = "SELECT position FROM outbox WHERE destination = $1 AND octet_length(payload) > 20000"
        async with world.outboxes.transaction(service) as tx:
            await release(tx, await world.databases.value(service, query, topic))
        await world.outboxes.until_sent(service, topic)
        everything = await world.bus.everything(topic)
    assert names_of(everything, "k1") == ["k1/before", large, "k1/after", "k1/last"]


@pytest.mark.scenario("event-bus/relay-killed-mid-batch")
async def test_a_relay_killed_with_a_batch_in_hand_loses_nothing_and_every_event_has_one_effect(
    world: World, service: str
) -> None:
    topic = f"events.{service}"

    async def waits_for_its_relay() -> bool:
        return (await world.outboxes.queued(service, topic)).rows >= len(orders)

    async with contextlib.AsyncExitStack() as unmarkable:
        async with world.outboxes.held(service):
            orders = [await world.story.place(order_body(unit_price_minor=0)) for _ in range(3)]
            await eventually(waits_for_its_relay, what=f"{service} has published its event of each order", within=60)
            await unmarkable.enter_async_context(world.outboxes.unmarkable(service))
        marking = await eventually(lambda: world.outboxes.marking(service), what="its relay has delivered them")
        kill(world.stack, f"{service}-relay")
        await world.outboxes.end(service, marking)  # as if it had died before it could say so
    await world.outboxes.until_sent(service, topic)
    for order in orders:
        await world.story.until_mailed(order)
    records = [record for order in orders for record in await world.bus.records(topic, order.id)]
    arrivals = [record.header("event-id") for record in records]
    assert len(arrivals) > len(set(arrivals)), "it had sent them, and its successor did not know"
    assert len(set(arrivals)) == len(orders), "none was lost"
    for order in orders:
        assert len(await world.story.payments(order)) == 1
        assert len(await world.story.mails(await world.story.view(order))) == 1
