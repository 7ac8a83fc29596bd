"""The retry ledger: a failed event is kept, its key waits in order, and nothing is run twice."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import asyncpg
import pytest
from ledger_lab import SERVICE, Deliveries, Owner, incoming
from sqlalchemy import text

from service_platform.database import Database
from service_platform.inbox import (
    AlreadyBuried,
    AlreadyHandled,
    AlreadyRetrying,
    DeadLetterOffice,
    InboxClaim,
    KeyBlocked,
    StaleWakeUp,
    WakeUp,
)


@pytest.fixture
async def shop(database: Database, owner: Owner) -> Deliveries:
    shop = Deliveries(database, owner)
    await shop.make_effects()
    return shop


async def test_a_first_failure_puts_the_event_into_the_ledger_with_a_wake_up_for_its_due_time(
    database: Database, owner: Owner, shop: Deliveries
) -> None:
    later = Deliveries(database, owner, pause_seconds=600)
    event = incoming()
    assert await later.fail(event) == "retrying"
    row = await owner.fetchrow("SELECT * FROM retry_ledger")
    assert row is not None
    assert (row["event_id"], row["attempts"], row["payload"]) == (event.event_id, 1, event.payload)
    assert (row["headers"], row["origin"]) == (
        f'{{"event-id":"{event.event_id}","event-name":"thing.happened"}}',
        event.origin,
    )
    wake_up = await shop.last_wake_up()
    assert wake_up == WakeUp("c", "order", "k", event.event_id, 1, row["due_at"])
    assert row["due_at"] > row["created_at"]


async def test_a_failure_and_its_wake_up_are_one_transaction(
    database: Database, owner: Owner, shop: Deliveries
) -> None:
    await owner.execute("ALTER TABLE outbox ADD CONSTRAINT none CHECK (false) NOT VALID")
    with pytest.raises(Exception, match="none"):
        await shop.fail(incoming())
    assert await shop.pending() == []


async def test_an_event_in_the_ledger_is_not_run_when_it_is_delivered_again(shop: Deliveries) -> None:
    event = incoming()
    await shop.fail(event)
    with pytest.raises(AlreadyRetrying):
        await shop.run(event)
    assert await shop.fail(event) == "retrying", "and a second first failure counts for nothing"
    assert await shop.pending() == [(event.event_id, 1)]


async def test_a_blocked_key_takes_later_events_behind_it_and_lets_others_pass(shop: Deliveries) -> None:
    head, second, third = (incoming(number=number) for number in range(3))
    await shop.fail(head)
    for event in (second, third):
        with pytest.raises(KeyBlocked):
            await shop.run(event)
        assert await shop.ledger.append_behind(event)
    assert await shop.pending() == [(head.event_id, 1), (second.event_id, 0), (third.event_id, 0)]
    for other in (incoming(key="other"), incoming(consumer="other"), incoming(source="other")):
        await shop.run(other)
    assert await shop.ledger.append_behind(second), "appended twice is appended once"
    assert len(await shop.pending()) == 3


async def test_only_the_head_of_a_key_is_ever_woken(owner: Owner, shop: Deliveries) -> None:
    head = incoming()
    await shop.fail(head)
    for _ in range(3):
        await shop.ledger.append_behind(incoming())
    await shop.fail(head, attempts=1)
    assert (await shop.last_wake_up()).event_id == head.event_id
    woken = await owner.fetch("SELECT event_id FROM retry_ledger WHERE woken_at IS NOT NULL")
    assert [row["event_id"] for row in woken] == [head.event_id]


async def test_an_event_that_took_effect_since_is_not_appended(shop: Deliveries) -> None:
    event = incoming()
    await shop.run(event)
    await shop.fail(head := incoming())
    assert await shop.ledger.append_behind(event)
    assert await shop.pending() == [(head.event_id, 1)]


async def test_the_key_drains_in_order_each_head_waking_the_next(shop: Deliveries) -> None:
    events = [incoming(number=number) for number in range(4)]
    await shop.fail(events[0])
    for event in events[1:]:
        await shop.ledger.append_behind(event)
    for number, event in enumerate(events):
        wake_up = await shop.last_wake_up()
        assert (wake_up.event_id, wake_up.attempts) == (event.event_id, 1 if number == 0 else 0)
        await shop.wake(wake_up)
    assert await shop.effects() == [event.event_id for event in events]
    assert await shop.pending() == []
    assert len(await shop.wake_ups()) == 4, "one each"
    await shop.run(incoming()), "and the key flows again"


async def test_a_retry_that_fails_leaves_the_ledger_as_it_was_but_for_its_attempt(
    database: Database, owner: Owner, shop: Deliveries
) -> None:
    head, second = incoming(), incoming()
    await shop.fail(head)
    await shop.ledger.append_behind(second)
    wake_up = await shop.last_wake_up()
    await owner.execute("ALTER TABLE effect ADD CONSTRAINT sick CHECK (false) NOT VALID")
    with pytest.raises(Exception, match="sick"):
        await shop.wake(wake_up)
    assert await shop.pending() == [(head.event_id, 1), (second.event_id, 0)]
    assert await shop.fail(head, attempts=1) == "retrying"
    assert await shop.pending() == [(head.event_id, 2), (second.event_id, 0)]
    assert (await shop.last_wake_up()).attempts == 2
    with pytest.raises(StaleWakeUp):
        await shop.wake(wake_up)


@pytest.mark.parametrize("attempts", [0, 2])
async def test_a_wake_up_of_another_attempt_is_not_obeyed(shop: Deliveries, attempts: int) -> None:
    await shop.fail(incoming())
    with pytest.raises(StaleWakeUp):
        await shop.wake(replace(await shop.last_wake_up(), attempts=attempts))


async def test_a_wake_up_that_names_no_head_is_not_obeyed(shop: Deliveries) -> None:
    head, second = incoming(), incoming()
    await shop.fail(head)
    await shop.ledger.append_behind(second)
    for attempts in (0, 1):  # its own, and the head's
        with pytest.raises(StaleWakeUp):
            await shop.wake(WakeUp("c", "order", "k", second.event_id, attempts))
    assert await shop.effects() == []
    assert len(await shop.pending()) == 2


async def test_a_wake_up_that_names_another_key_finds_nothing(owner: Owner, shop: Deliveries) -> None:
    """Its failure would be recorded under the lock of a key that is not the event's."""
    event = incoming()
    await shop.fail(event)
    wake_up = await shop.last_wake_up()
    assert await shop.ledger.entry(wake_up) == replace(event, attempts=1)
    assert await shop.ledger.entry(replace(wake_up, key="other")) is None
    assert await shop.fail(replace(event, key="other"), attempts=1, allowed=1) == "stale"
    assert await shop.pending() == [(event.event_id, 1)]


async def test_a_wake_up_that_comes_too_early_is_not_obeyed(database: Database, owner: Owner, shop: Deliveries) -> None:
    await Deliveries(database, owner, pause_seconds=600).fail(incoming())
    wake_up = await shop.last_wake_up()
    with pytest.raises(StaleWakeUp):
        await shop.wake(wake_up)
    await owner.execute("SELECT platform_clock_set('601 seconds', 1)")
    await shop.wake(wake_up)


async def test_a_second_wake_up_of_an_event_that_took_effect_does_nothing(shop: Deliveries) -> None:
    await shop.fail(incoming())
    wake_up = await shop.last_wake_up()
    await shop.wake(wake_up)
    with pytest.raises(StaleWakeUp):
        await shop.wake(wake_up)
    assert len(await shop.effects()) == 1


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


async def test_decisions_see_what_was_committed_whatever_the_servers_default_isolation_is(
    database: Database, owner: Owner
) -> None:
    await owner.execute(f"ALTER DATABASE {database.address.name} SET default_transaction_isolation = 'serializable'")
    async with database.transaction() as tx:
        assert await tx.session.scalar(text("SHOW transaction_isolation")) == "read committed"


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


async def test_a_failure_of_an_attempt_that_is_over_is_not_recorded(shop: Deliveries) -> None:
    event = incoming()
    await shop.fail(event)
    assert await shop.fail(event, attempts=1) == "retrying"
    assert await shop.fail(event, attempts=1) == "stale"
    assert await shop.pending() == [(event.event_id, 2)]
    await shop.wake(await shop.last_wake_up())
    assert await shop.fail(event, attempts=2) == "handled"
    assert await shop.fail(event) == "handled"
    assert await shop.pending() == []


async def test_a_failure_of_an_event_that_left_the_ledger_is_not_recorded(owner: Owner, shop: Deliveries) -> None:
    event = incoming()
    assert await shop.fail(event, attempts=1) == "stale"
    assert await shop.pending() == []
    assert await owner.fetchval("SELECT count(*) FROM dead_letter") == 0


async def test_a_deferred_claim_that_fails_is_not_taken_for_a_duplicate(shop: Deliveries, owner: Owner) -> None:
    """NServiceBus 4993: what marks an event as seen must roll back with the run that failed."""
    event = incoming()
    await owner.execute("ALTER TABLE effect ADD CONSTRAINT sick CHECK (false) NOT VALID")
    with pytest.raises(Exception, match="sick"):
        await shop.run(event)
    await shop.fail(event)
    await owner.execute("ALTER TABLE effect DROP CONSTRAINT sick")
    await shop.wake(await shop.last_wake_up())
    assert await shop.effects() == [event.event_id]


async def test_an_event_that_the_inbox_and_the_ledger_both_have_is_only_taken_out(
    owner: Owner, shop: Deliveries
) -> None:
    event, behind = incoming(), incoming()
    await shop.fail(event)
    await shop.ledger.append_behind(behind)
    await owner.execute("INSERT INTO inbox VALUES ('c', 'order', $1, now())", event.event_id)
    wake_up = await shop.last_wake_up()
    for again in (lambda: shop.wake(wake_up), lambda: shop.run(event)):
        with pytest.raises(AlreadyHandled):
            await again()
    assert len(await shop.pending()) == 2
    await shop.ledger.settle(InboxClaim("c", "order", "k", event.event_id))
    assert await shop.pending() == [(behind.event_id, 0)]
    assert (await shop.last_wake_up()).event_id == behind.event_id
    await shop.ledger.settle(InboxClaim("c", "order", "k", behind.event_id))
    assert await shop.pending() == [(behind.event_id, 0)], "one that has not taken effect stays"


@pytest.mark.parametrize("words", ["a\0b", "half \ud800 pair", "x" * 10_000])
async def test_an_error_that_no_column_takes_is_recorded(owner: Owner, shop: Deliveries, words: str) -> None:
    event = incoming()
    assert await shop.ledger.record_failure(event, ValueError(words), attempts_allowed=2) == "retrying"
    again = replace(event, attempts=1)
    assert await shop.ledger.record_failure(again, ValueError(words), attempts_allowed=2) == "buried"
    error = await owner.fetchval("SELECT error FROM dead_letter")
    assert error.startswith("ValueError: ")
    assert len(error) < 2500


async def test_heads_that_nobody_came_for_are_woken_again_ever_less_often(owner: Owner, shop: Deliveries) -> None:
    head, behind = incoming(), incoming()
    await shop.fail(head)
    await shop.ledger.append_behind(behind)
    assert await shop.ledger.wake_overdue(first_wait_seconds=30) == 0, "it was woken just now"
    waits = []
    for seconds in range(10, 1000, 10):
        await owner.execute("SELECT platform_clock_set(make_interval(secs => $1), 1)", float(seconds))
        waits += [seconds] * await shop.ledger.wake_overdue(first_wait_seconds=30)
    assert waits == [30, 90, 210, 450, 930], "after 30, 60, 120, 240, 480 seconds"
    wake_up = await shop.last_wake_up()
    assert (wake_up.event_id, wake_up.not_before) == (head.event_id, None)
    await shop.wake(wake_up)
    assert await shop.effects() == [head.event_id]


async def test_a_record_without_a_name_is_buried_once(owner: Owner, shop: Deliveries) -> None:
    for _ in range(2):
        await shop.ledger.bury_nameless(
            key="k", headers={"a": "b"}, payload=b"\x00\xff", origin="t/0@7 1", error=ValueError("bare")
        )
    letters = await owner.fetch("SELECT payload, headers, origin, event_id FROM dead_letter")
    assert [tuple(letter) for letter in letters] == [(b"\x00\xff", '{"a":"b"}', "t/0@7 1", None)]
    assert await owner.fetchval("SELECT count(*) FROM outbox") == 1


async def test_the_purge_takes_what_is_old_and_never_what_still_waits(owner: Owner, shop: Deliveries) -> None:
    await shop.run(incoming())
    dead, settled, waiting = incoming(key="dead"), incoming(key="settled"), incoming(key="waiting")
    for event in (dead, settled, waiting):
        await shop.fail(event, allowed=1)
    async with shop.database.transaction() as tx:
        letter = await owner.fetchval("SELECT id FROM dead_letter WHERE key = 'waiting'")
        await DeadLetterOffice(SERVICE).requeue(tx, letter)
    await owner.execute("UPDATE dead_letter SET state = 'discarded', resolved_at = now() WHERE key = 'settled'")

    async def purge(days: int) -> int:
        count: int = await owner.fetchval("SELECT inbox_purge(make_interval(days => $1), 100)", days)
        return count

    await owner.execute("SELECT platform_clock_set('10 days', 1)")
    assert await purge(11) == 0
    await shop.run(recent := incoming())
    assert await purge(9) == 2
    assert [row["key"] for row in await owner.fetch("SELECT key FROM dead_letter ORDER BY key")] == ["dead", "waiting"]
    assert await owner.fetchval("SELECT count(*) FROM retry_ledger WHERE event_id = $1", waiting.event_id) == 1
    kept: list[UUID] = [row["event_id"] for row in await owner.fetch("SELECT event_id FROM inbox")]
    assert kept == [recent.event_id]


@pytest.mark.parametrize("table", ["inbox", "retry_ledger", "dead_letter"])
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET consumer = 'x'"])
async def test_the_app_role_cannot_write_past_the_functions(database: Database, table: str, statement: str) -> None:
    async with database.autocommit() as driver:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await driver.execute(statement.format(table))
