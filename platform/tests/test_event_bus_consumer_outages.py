"""What a consumer stands on breaks down: it waits, or ends with an error and leaves no work behind."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from bus_lab import event_class
from confluent_kafka.admin import AdminClient, NewTopic
from consuming_lab import Owner, consuming, effects_of, publish, running, write_effect
from sqlalchemy import text

from native.stack import Stack
from service_platform.database import Database, DatabaseAddress
from service_platform.event_bus import ConsumerEngine, Delivery, fetcher, partition
from service_platform.event_bus import engine as bus_engine
from world.processes import family, stopped
from world.waiting import eventually

pytestmark = pytest.mark.usefixtures("effect_table")


async def test_a_database_that_goes_away_in_mid_effect_costs_nothing(
    database: Database, owner: Owner, root: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id="k", number=n) for n in range(3)))
    write = write_effect(database)
    killed: list[int] = []

    async def interrupted(delivery: Delivery[Any]) -> None:
        if delivery.event.number == 1 and len(killed) < 2:
            async with database.transaction(claim=delivery.claim) as tx:
                killed.append(await tx.session.scalar(text("SELECT pg_backend_pid()")) or 0)
                await root.execute("SELECT pg_terminate_backend($1)", killed[-1])
                await tx.session.execute(text("INSERT INTO effect (consumer, key, number) VALUES ('c', 'k', 99)"))
        await write(delivery)

    async with running(database, kafka, source, consuming(happened, "c", interrupted)):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 3, what="all take effect")
    assert len(killed) == 2
    assert await effects_of(owner) == [("k", 0), ("k", 1), ("k", 2)]


async def test_an_error_in_taking_messages_over_ends_the_engine(
    database: Database, owner: Owner, kafka: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To go on would pass over what was not taken."""
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    monkeypatch.setattr(partition.Watermark, "start", lambda *_: 1 / 0)
    engine = ConsumerEngine(
        database,
        consumers=[consuming(happened, "c", write_effect(database))],
        service=source,
        bootstrap_servers=kafka,
    )
    with pytest.raises(ZeroDivisionError):
        async with asyncio.timeout(30):
            await engine.run(asyncio.Event())


async def test_a_client_that_breaks_down_leaves_no_work_behind(
    database: Database, owner: Owner, kafka: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    inside, ended = asyncio.Event(), asyncio.Event()

    async def stuck(_: Delivery[Any]) -> None:
        inside.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def break_down() -> None:
        await inside.wait()
        monkeypatch.setattr(fetcher.Fetcher, "_keep_pace", lambda *_: 1 / 0)

    engine = ConsumerEngine(
        database, consumers=[consuming(happened, "c", stuck)], service=source, bootstrap_servers=kafka
    )
    breaking = asyncio.create_task(break_down())
    with pytest.raises(ZeroDivisionError):
        async with asyncio.timeout(30):
            await engine.run(asyncio.Event())
    await breaking
    assert ended.is_set()


async def test_work_that_could_not_be_stopped_in_time_ends_when_the_loop_is_free_again(
    database: Database, owner: Owner, kafka: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler blocks the loop for longer than a stop waits: what it has in hand belongs to the next owner."""
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id="k", number=n) for n in range(3)))
    monkeypatch.setattr(bus_engine, "_GRACE_SECONDS", 0.2)
    handled: list[int] = []
    ended = asyncio.Event()

    async def blocking(delivery: Delivery[Any]) -> None:
        handled.append(delivery.event.number)
        member = engine._member
        assert member is not None
        revoking = threading.Thread(target=member.finish, args=[list(member._partitions)], kwargs={"within_seconds": 0})
        revoking.start()
        revoking.join()  # blocking the loop is the point
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with running(database, kafka, source, consuming(happened, "c", blocking)) as engine:
        await eventually(ended.is_set, what="the handler is ended")
    assert handled == [0]


async def test_a_topic_that_is_not_there_yet_is_waited_for(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    later = f"later{source}"
    happened = event_class(later)
    async with running(database, kafka, later, consuming(happened, "c", write_effect(database))):
        admin = AdminClient({"bootstrap.servers": kafka})
        admin.create_topics([NewTopic(f"events.{later}", 3, 1)], operation_timeout=15)[f"events.{later}"].result()
        await publish(database, kafka, owner, happened(thing_id="k", number=1))
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 1, within=40, what="it is read")
    admin.delete_topics([f"events.{later}"])


async def test_a_broker_that_is_stopped_for_a_while_is_waited_for(
    database: Database, owner: Owner, source: str, stack: Stack
) -> None:
    kafka = stack.topology.kafka_address
    happened = event_class(source)
    consumer = consuming(happened, "c", write_effect(database))
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    async with running(database, kafka, source, consumer) as engine:
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 1, what="the first is handled")
        with stopped(family(stack, "kafka")):
            since = time.monotonic()
            await eventually(lambda: time.monotonic() - since > 12, what="longer than a session lasts")
        await publish(database, kafka, owner, happened(thing_id="k", number=2))
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 2, within=40, what="it goes on")
        assert engine.ready


async def test_the_engine_takes_no_partition_before_its_database_answers(kafka: str, source: str) -> None:
    nowhere = Database(DatabaseAddress("127.0.0.1", 1, "x", "x", "x"), application_name="test")
    happened = event_class(source)
    async with running(nowhere, kafka, source, consuming(happened, "c", write_effect(nowhere))) as engine:
        before = time.monotonic()
        await eventually(lambda: time.monotonic() - before > 1, what="it had time to join")
        assert not engine.ready
        assert engine._member is None
    await nowhere.close()
