"""A failing consumer over a real broker: retried later, in order, then buried."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from typing import Any, ClassVar, Literal
from uuid import UUID

import pytest
from bus_lab import TopicReader, event_class, relaying_to_kafka
from consuming_lab import (
    Handler,
    Owner,
    committed,
    consuming,
    effects_of,
    produce_again,
    publish,
    running,
    write_effect,
)

from service_platform.database import Database
from service_platform.event_bus import Delivery, Event
from service_platform.inbox import DeadLetterOffice, RetryLedger
from world.waiting import eventually

pytestmark = pytest.mark.usefixtures("effect_table")


@pytest.fixture
async def relay(database: Database, kafka: str) -> AsyncIterator[None]:
    """Wake-ups and dead letters go out."""
    async with relaying_to_kafka(database, kafka, poll_seconds=0.05):
        yield


def failing(handler: Handler, failures: dict[int, int]) -> tuple[Handler, dict[int, list[float]]]:
    """A handler that throws as often as `failures` says for an event's number, and when it was called for each."""
    calls: dict[int, list[float]] = defaultdict(list)

    async def handle(delivery: Delivery[Any]) -> None:
        calls[delivery.event.number].append(time.monotonic())
        if len(calls[delivery.event.number]) <= failures.get(delivery.event.number, 0):
            raise RuntimeError(f"not today, {delivery.event.number}")
        await handler(delivery)

    return handle, calls


@pytest.mark.usefixtures("relay")
async def test_a_failed_event_takes_effect_before_those_behind_it_and_other_keys_do_not_wait(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    sick = [happened(thing_id="sick", number=number) for number in (1, 2, 3)]
    well = [happened(thing_id=f"well{number}", number=100 + number) for number in range(20)]
    handler, calls = failing(write_effect(database), {1: 3})
    await publish(database, kafka, owner, sick[0], *well, *sick[1:])
    async with running(database, kafka, source, consuming(happened, "c", handler)):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 23, what="all take effect")
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, source), until=lambda n: n == 23, what="all committed"
        )
    seen = await effects_of(owner)
    assert [number for key, number in seen if key == "sick"] == [1, 2, 3]
    assert len(calls[1]) == 4
    assert all(len(calls[100 + number]) == 1 for number in range(20))
    assert await owner.fetchval("SELECT count(*) FROM retry_ledger") == 0


async def test_the_partition_goes_on_while_nothing_relays_the_retry(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    """faststream 2618: e1 raises, e2 succeeds, and e1 is not lost with it."""
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="a", number=1), happened(thing_id="b", number=2))
    handler, _ = failing(write_effect(database), {1: 99})
    async with running(database, kafka, source, consuming(happened, "c", handler)):
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, source), until=lambda n: n == 2, what="both committed"
        )
    assert await effects_of(owner) == [("b", 2)]
    assert await owner.fetchval("SELECT attempts FROM retry_ledger") == 1


@pytest.mark.usefixtures("relay")
async def test_a_retry_of_one_consumer_is_not_seen_by_the_others(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    handler, calls = failing(write_effect(database, "sick"), {1: 2})
    seen: list[UUID] = []

    async def onlooker(delivery: Delivery[Any]) -> None:
        seen.append(delivery.event_id)
        await write_effect(database, "well")(delivery)

    consumers = [consuming(happened, "well", onlooker), consuming(happened, "sick", handler)]
    async with running(database, kafka, source, *consumers):
        await eventually(lambda: effects_of(owner, "sick"), what="the sick one has succeeded")
    assert await effects_of(owner, "well") == [("k", 1)]
    assert len(seen) == 1
    assert len(calls[1]) == 3


@pytest.mark.usefixtures("relay")
async def test_after_its_attempts_an_event_is_buried_and_copied_and_the_next_goes_on(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    happened.attempts = 3
    await publish(database, kafka, owner, *(happened(thing_id="k", number=number) for number in (1, 2)))
    handler, calls = failing(write_effect(database), {1: 99})
    async with running(database, kafka, source, consuming(happened, "c", handler)):
        await eventually(lambda: effects_of(owner), what="the one behind it takes effect")
        assert await effects_of(owner) == [("k", 2)]
        assert len(calls[1]) == 3
        letter = await owner.fetchrow("SELECT id, attempts, error FROM dead_letter")
        assert letter is not None
        assert (letter["attempts"], letter["error"].splitlines()[0]) == (3, "RuntimeError: not today, 1")
        reader = TopicReader(kafka, f"events.{source}.dlq")
        (copy,) = await eventually(reader.read, what="its copy is in the dead-letter topic")
        reader.close()
        headers = dict(copy.headers())
        assert headers["dead-letter-id"].decode() == str(letter["id"])
        assert headers["event-name"] == b"thing.happened"
        assert happened.parse(copy.value()).number == 1

        produce_again(kafka, source)
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, source), until=lambda n: n == 4, what="all committed"
        )
        again = await owner.fetchrow("SELECT attempts, jsonb_array_length(history) FROM dead_letter")
        assert again is not None
        assert tuple(again) == (3, 3), "a second delivery of a buried event is a no-op"


@pytest.mark.usefixtures("relay")
@pytest.mark.parametrize("on_dead", ["release", "hold"])
async def test_a_requeued_event_takes_effect_once_a_held_key_only_then(
    database: Database, owner: Owner, kafka: str, source: str, on_dead: Literal["release", "hold"]
) -> None:
    happened = event_class(source)
    happened.attempts = 1
    await publish(database, kafka, owner, *(happened(thing_id="k", number=number) for number in (1, 2)))
    handler, calls = failing(write_effect(database), {1: 1})
    async with running(database, kafka, source, consuming(happened, "c", handler, on_dead)):
        letter = await eventually(lambda: owner.fetchval("SELECT id FROM dead_letter"), what="it is buried")
        await eventually(
            lambda: asyncio.to_thread(committed, kafka, source, source), until=lambda n: n == 2, what="both committed"
        )
        if on_dead == "release":
            await eventually(lambda: effects_of(owner), what="the next one has run")
        else:
            assert await effects_of(owner) == []
        async with database.transaction() as tx:
            await DeadLetterOffice(source).requeue(tx, letter)
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 2, what="both have run")
    assert await effects_of(owner) == ([("k", 2), ("k", 1)] if on_dead == "release" else [("k", 1), ("k", 2)])
    assert len(calls[1]) == 2


@pytest.mark.usefixtures("relay")
async def test_retries_that_are_due_at_different_times_each_run_at_their_own(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    """A retry that is due sooner does not wait behind one that is due later."""
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id=f"k{number}", number=number) for number in (1, 2)))
    sick = asyncio.Event()
    write = write_effect(database)

    async def handle(delivery: Delivery[Any]) -> None:
        if not sick.is_set():
            raise RuntimeError("both fail once")
        await write(delivery)

    async with running(database, kafka, source, consuming(happened, "c", handle)):
        await owner.execute("SELECT platform_clock_set('0 seconds', 0)")  # so that no retry comes due by itself
        await eventually(
            lambda: owner.fetchval("SELECT count(*) FROM retry_ledger"), until=lambda n: n == 2, what="both failed"
        )
        sick.set()
        await owner.execute(
            "UPDATE retry_ledger SET due_at = platform_now() + CASE key WHEN 'k1' THEN interval '1 h' ELSE '5 s' END;"
            "UPDATE outbox_queue q SET not_before = r.due_at FROM retry_ledger r JOIN outbox o USING (key) "
            f"WHERE o.position = q.position AND q.destination = 'events.{source}.retry'"
        )
        await owner.execute("SELECT platform_clock_set('20 seconds', 0)")
        await eventually(lambda: effects_of(owner), until=lambda seen: seen == [("k2", 2)], what="the sooner one runs")
        await owner.execute("SELECT platform_clock_set('2 hours', 0)")
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 2, what="and the later one later")


@pytest.mark.usefixtures("relay")
async def test_retries_keep_the_spread_of_their_keys(database: Database, owner: Owner, kafka: str, source: str) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id=f"k{number}", number=number) for number in range(30)))
    handler, _ = failing(write_effect(database), dict.fromkeys(range(30), 1))
    async with running(database, kafka, source, consuming(happened, "c", handler)):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 30, what="all take effect")
    main, retry = TopicReader(kafka, f"events.{source}"), TopicReader(kafka, f"events.{source}.retry")
    await eventually(lambda: len(main.read()) >= 30 and len(retry.read()) >= 30, what="both topics are read")
    assert {m.key(): m.partition() for m in retry.messages} == {m.key(): m.partition() for m in main.messages}
    main.close()
    retry.close()


@pytest.mark.usefixtures("relay")
async def test_a_lost_wake_up_is_written_again(database: Database, owner: Owner, kafka: str, source: str) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="k", number=1))
    await owner.execute(
        "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF new.destination LIKE '%.retry' THEN RETURN NULL; END IF; RETURN new; END $$;"
        "CREATE TRIGGER lose BEFORE INSERT ON outbox_queue FOR EACH ROW EXECUTE FUNCTION lose()"
    )
    handler, _ = failing(write_effect(database), {1: 1})
    async with running(database, kafka, source, consuming(happened, "c", handler)):
        await eventually(lambda: owner.fetchval("SELECT count(*) FROM retry_ledger"), what="it has failed")
        await owner.execute("DROP TRIGGER lose ON outbox_queue")
        ledger = RetryLedger(database, source)
        await eventually(lambda: ledger.wake_overdue(first_wait_seconds=0.3), what="it is overdue")
        await eventually(lambda: effects_of(owner), what="it takes effect")


async def test_a_handler_that_forgets_its_claim_has_its_event_buried_at_once(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="k"))
    calls: Counter[str] = Counter()

    async def forgetful(_: Delivery[Any]) -> None:
        calls["forgetful"] += 1

    async with running(database, kafka, source, consuming(happened, "c", forgetful)):
        error = await eventually(lambda: owner.fetchval("SELECT error FROM dead_letter"), what="it is buried")
    assert error.startswith("ClaimNotAcquired: c returned without a commit under its claim")
    assert calls["forgetful"] == 1, "each further call might take effect again"


async def test_a_handler_that_swallows_what_rolled_its_effect_back_does_not_lose_the_event(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, happened(thing_id="k"))

    async def careless(delivery: Delivery[Any]) -> None:
        with contextlib.suppress(ZeroDivisionError):
            async with database.transaction(claim=delivery.claim):
                raise ZeroDivisionError

    async with running(database, kafka, source, consuming(happened, "c", careless)):
        error = await eventually(lambda: owner.fetchval("SELECT error FROM dead_letter"), what="it is buried")
    assert error.startswith("ClaimNotAcquired: ")


@pytest.mark.usefixtures("relay")
async def test_a_handler_that_ends_by_a_foreign_cancellation_has_failed_and_its_key_goes_on(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    happened = event_class(source)
    await publish(database, kafka, owner, *(happened(thing_id="k", number=number) for number in (1, 2)))
    calls: Counter[int] = Counter()
    write = write_effect(database)

    async def ends(delivery: Delivery[Any]) -> None:
        calls[delivery.event.number] += 1
        if calls[1] == 1:
            other = asyncio.ensure_future(asyncio.Event().wait())
            other.cancel()
            await other
        await write(delivery)

    async with running(database, kafka, source, consuming(happened, "c", ends)):
        await eventually(lambda: effects_of(owner), until=lambda seen: len(seen) == 2, what="both take effect")
    assert await effects_of(owner) == [("k", 1), ("k", 2)]
    assert calls[1] == 2


def test_an_event_has_a_bounded_number_of_attempts() -> None:
    """More than the ledger's column holds would be an error at each further failure, for ever."""
    for number in (0, 1001):
        with pytest.raises(TypeError, match="attempts"):

            class Happened(Event):
                event_name: ClassVar[str] = "thing.happened"
                version: ClassVar[int] = 1
                source: ClassVar[str] = "s"
                key_field: ClassVar[str] = "thing_id"
                attempts: ClassVar[int] = number
                thing_id: str
