"""What uses up its attempts, or has no name, becomes a dead letter: with its bytes and history, and counted once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ledger_lab import SERVICE, Deliveries, Owner, incoming

from service_platform.inbox import AlreadyBuried, KeyBlocked, StaleWakeUp, WakeUp


async def test_attempts_end_in_a_dead_letter_with_its_history_and_the_next_one_is_woken(
    owner: Owner, shop: Deliveries
) -> None:
    event, behind = incoming(), incoming()
    await shop.fail(event)
    await shop.ledger.append_behind(behind)
    assert await shop.fail(event, attempts=1) == "retrying"
    assert await shop.fail(event, attempts=2) == "buried"
    letter = await owner.fetchrow(
        "SELECT *, jsonb_path_query_array(history, '$[*].attempt')::text AS tries FROM dead_letter"
    )
    assert letter is not None
    assert (letter["event_id"], letter["payload"], letter["state"]) == (event.event_id, event.payload, "dead")
    assert (letter["attempts"], letter["tries"], letter["error"].splitlines()[0]) == (
        3,
        "[1, 2, 3]",
        "RuntimeError: no",
    )
    assert await shop.pending() == [(behind.event_id, 0)]
    await shop.wake(await shop.last_wake_up())
    assert await shop.effects() == [behind.event_id]


async def test_a_dead_letter_is_copied_to_its_topic_in_the_same_transaction(owner: Owner, shop: Deliveries) -> None:
    event = incoming()
    assert await shop.fail(event, allowed=1) == "buried"
    copy = await owner.fetchrow("SELECT * FROM outbox WHERE destination = $1", f"events.{SERVICE}.dlq")
    assert copy is not None
    assert (copy["key"], copy["payload"], copy["consumer"]) == ("k", event.payload, "c")
    assert f'"event-id":"{event.event_id}"' in copy["headers"]
    assert '"dead-letter-error":"RuntimeError: no' in copy["headers"]
    assert copy["message_id"] == await owner.fetchval("SELECT id FROM dead_letter")


async def test_a_record_too_large_for_the_outbox_is_buried_all_the_same(owner: Owner, shop: Deliveries) -> None:
    event = replace(incoming(), payload=b"x" * 1024 * 1024)
    assert await shop.fail(event, allowed=0) == "buried"
    assert await owner.fetchval("SELECT octet_length(payload) FROM dead_letter") == 1024 * 1024
    copy = await owner.fetchrow("SELECT payload, headers FROM outbox")
    assert copy is not None
    assert copy["payload"] == b""
    assert '"dead-letter-omitted-bytes":"1048576"' in copy["headers"]


async def test_a_record_without_a_name_and_with_an_endless_key_is_buried_all_the_same(
    owner: Owner, shop: Deliveries
) -> None:
    await shop.ledger.bury_nameless(
        key="k" * 100_000, headers={}, payload=b"x", origin="t/0@7 1", error=ValueError("bare")
    )
    assert await owner.fetchval("SELECT length(key) FROM dead_letter") == 100_000
    assert await owner.fetchval("SELECT length(key) FROM outbox") == 500


async def test_a_record_without_a_name_is_buried_once(owner: Owner, shop: Deliveries) -> None:
    for _ in range(2):
        await shop.ledger.bury_nameless(
            key="k", headers={"a": "b"}, payload=b"\x00\xff", origin="t/0@7 1", error=ValueError("bare")
        )
    letters = await owner.fetch("SELECT payload, headers, origin, event_id FROM dead_letter")
    assert [tuple(letter) for letter in letters] == [(b"\x00\xff", '{"a":"b"}', "t/0@7 1", None)]
    assert await owner.fetchval("SELECT count(*) FROM outbox") == 1


async def test_an_event_that_was_buried_stays_buried_when_it_is_delivered_again(shop: Deliveries) -> None:
    event = incoming()
    await shop.fail(event, allowed=1)
    with pytest.raises(AlreadyBuried):
        await shop.run(event)
    assert await shop.fail(event, allowed=5) == "buried"
    await shop.fail(incoming())
    assert await shop.ledger.append_behind(event), "nor is it appended when its key is blocked"
    assert event.event_id not in dict(await shop.pending())


async def test_a_consumer_may_have_its_key_held_by_a_dead_event(owner: Owner, shop: Deliveries) -> None:
    dead, behind = incoming(), incoming()
    assert await shop.fail(dead, allowed=1, hold=True) == "buried"
    with pytest.raises(KeyBlocked):
        await shop.run(behind)
    await shop.ledger.append_behind(behind)
    assert await shop.wake_ups() == [], "nobody is woken"
    with pytest.raises(StaleWakeUp):
        await shop.wake(WakeUp("c", "order", "k", dead.event_id, 1))
    assert await owner.fetchval("SELECT state FROM dead_letter") == "dead"


async def test_a_failure_of_a_dead_head_that_holds_its_key_is_not_counted_again(owner: Owner, shop: Deliveries) -> None:
    event = incoming()
    await shop.fail(event, allowed=2, hold=True)
    assert await shop.fail(event, attempts=1, allowed=2, hold=True) == "buried"
    assert await shop.fail(event, attempts=1, allowed=2, hold=True) == "stale"
    assert await shop.fail(event, attempts=2, allowed=2, hold=True) == "buried"
    assert await shop.pending() == [(event.event_id, 2)]
    assert await owner.fetchval("SELECT jsonb_array_length(history) FROM dead_letter") == 2
    assert await owner.fetchval("SELECT count(*) FROM outbox WHERE destination LIKE '%.dlq'") == 1


async def test_a_dead_head_that_holds_its_key_is_not_overdue(owner: Owner, shop: Deliveries) -> None:
    event = incoming()
    assert await shop.fail(event, allowed=2, hold=True) == "retrying"
    assert await shop.fail(event, attempts=1, allowed=2, hold=True) == "buried"
    await owner.execute("SELECT platform_clock_set('1 day', 1)")
    assert await shop.ledger.wake_overdue() == 0


@pytest.mark.parametrize("words", ["a\0b", "half \ud800 pair", "x" * 10_000])
async def test_an_error_that_no_column_takes_is_recorded(owner: Owner, shop: Deliveries, words: str) -> None:
    event = incoming()
    assert await shop.ledger.record_failure(event, ValueError(words), attempts_allowed=2) == "retrying"
    again = replace(event, attempts=1)
    assert await shop.ledger.record_failure(again, ValueError(words), attempts_allowed=2) == "buried"
    error = await owner.fetchval("SELECT error FROM dead_letter")
    assert error.startswith("ValueError: ")
    assert len(error) < 2500
