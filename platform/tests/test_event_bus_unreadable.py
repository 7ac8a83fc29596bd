"""A record that nobody can read, or that no publisher sends: it is buried with its bytes, and the partition flows."""

from __future__ import annotations

import asyncio
import os

import pytest
from bus_lab import event_class
from confluent_kafka import Producer
from consuming_lab import (
    Owner,
    committed,
    consuming,
    effects_of,
    produce_with_header_names,
    publish,
    running,
    write_effect,
)

from service_platform.database import Database
from service_platform.inbox import DeadLetterOffice
from world.waiting import eventually

pytestmark = pytest.mark.usefixtures("effect_table")


@pytest.mark.parametrize("attempts", [b"99999", b"-1", b"9" * 5000, b"1.5"])
async def test_a_wake_up_with_an_impossible_attempt_is_buried_and_its_partition_flows(
    database: Database, owner: Owner, kafka: str, source: str, attempts: bytes
) -> None:
    happened = event_class(source)
    headers = {
        "retry-consumer": b"c",
        "event-source": source.encode(),
        "event-id": b"7b0e6c06-6a5c-4b5e-8f0e-1f6a2a3c4d5e",
        "retry-attempts": attempts,
    }
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(f"events.{source}.retry", b"", b"k", headers=headers)
    producer.flush(10)
    async with running(database, kafka, source, consuming(happened, "c", write_effect(database))):
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, f"{source}.retry"),
            until=lambda n: n == 1,
            what="it is passed",
        )
    assert (await owner.fetchval("SELECT origin FROM dead_letter")).startswith(f"events.{source}.retry/")


@pytest.mark.parametrize("fault", ["long-key", "endless-key", "other-source", "long-source", "header-name"])
async def test_a_record_that_no_publisher_sends_is_buried_and_the_partition_flows(
    database: Database, owner: Owner, kafka: str, source: str, fault: str
) -> None:
    """The inbox could not hold it, or would take it for another service's, or the client cannot even read it."""
    happened = event_class(source)
    headers = {
        "event-id": b"7b0e6c06-6a5c-4b5e-8f0e-1f6a2a3c4d5e",
        "event-name": b"thing.happened",
        "event-version": b"1",
        "event-source": {"other-source": b"order", "long-source": os.urandom(4000).hex().encode()}.get(
            fault, source.encode()
        ),
        "occurred-at": b"2026-01-01T00:00:00+00:00",
    }
    key = os.urandom({"long-key": 4000, "endless-key": 50_000}.get(fault, 4)).hex().encode()
    payload = happened(thing_id="k").model_dump_json().encode()
    if fault == "header-name":
        produce_with_header_names(kafka, f"events.{source}", payload, *(name.encode() for name in headers), b"\xff\xfe")
    else:
        producer = Producer({"bootstrap.servers": kafka})
        producer.produce(f"events.{source}", payload, key, headers=headers, partition=0)
        producer.flush(10)
    await publish(database, kafka, owner, *(happened(thing_id=f"k{n}", number=n) for n in range(10)))
    async with running(database, kafka, source, consuming(happened, "c", write_effect(database))):
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, source), until=lambda n: n == 11, what="all committed"
        )
    assert sorted(number for _, number in await effects_of(owner)) == list(range(10))
    letter = await owner.fetchrow("SELECT payload, event_id FROM dead_letter")
    assert letter is not None
    assert tuple(letter) == (payload, None)
    assert await owner.fetchval("SELECT count(*) FROM outbox WHERE destination LIKE '%.dlq'") == 1


@pytest.mark.parametrize(
    "headers",
    [{}, {"event-name": b"thing.happened", "event-id": b"no uuid"}, {"event-name": b"\xff\x00", "other": b"\x00"}],
    ids=["bare", "no-uuid", "no-text"],
)
async def test_a_record_without_readable_headers_is_buried_with_its_bytes_and_the_partition_flows(
    database: Database, owner: Owner, kafka: str, source: str, headers: dict[str, bytes]
) -> None:
    happened = event_class(source)
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(f"events.{source}", b"\x00\xff raw", b"k\xff", partition=0, headers=headers)
    producer.flush(10)
    await publish(database, kafka, owner, *(happened(thing_id=f"k{n}", number=n) for n in range(30)))
    async with running(database, kafka, source, consuming(happened, "c", write_effect(database))):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 30, what="all others flow")
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, source), until=lambda n: n == 31, what="all committed"
        )
    if headers.get("event-name") == b"\xff\x00":
        assert await owner.fetchval("SELECT count(*) FROM dead_letter") == 0, "an event of another name: skipped"
        return
    letter = await owner.fetchrow("SELECT payload, key, event_id, origin FROM dead_letter")
    assert letter is not None
    assert (letter["payload"], letter["key"], letter["event_id"]) == (b"\x00\xff raw", "k\\xff", None)
    assert letter["origin"].startswith(f"events.{source}/0@0 ")


@pytest.mark.parametrize(
    "record",
    [(b"\x00\xff", b"1"), (b'{"thing_id": 7}', b"1"), (b'{"thing_id": "k"}', b"0")],
    ids=["raw", "type", "old"],
)
async def test_an_event_that_its_consumer_cannot_parse_is_buried_at_once_and_can_be_requeued(
    database: Database, owner: Owner, kafka: str, source: str, record: tuple[bytes, bytes]
) -> None:
    happened = event_class(source)
    payload, version = record
    producer = Producer({"bootstrap.servers": kafka})
    headers = {
        "event-id": b"7b0e6c06-6a5c-4b5e-8f0e-1f6a2a3c4d5e",
        "event-name": b"thing.happened",
        "event-version": version,
        "event-source": source.encode(),
        "occurred-at": b"2026-01-01T00:00:00+00:00",
    }
    producer.produce(f"events.{source}", payload, b"k", headers=headers)
    producer.flush(10)
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    async with running(database, kafka, source, consuming(happened, "c", write_effect(database))):
        await eventually(lambda: effects_of(owner), until=lambda seen: seen == [("k", 1)], what="the next one runs")
    letter = await owner.fetchrow("SELECT * FROM dead_letter")
    assert letter is not None
    assert (letter["consumer"], letter["payload"], letter["attempts"]) == ("c", payload, 1)
    assert letter["error"].startswith("Unparsable: ")
    async with database.transaction() as tx:
        assert await DeadLetterOffice(source).requeue(tx, letter["id"]) == "requeued"
