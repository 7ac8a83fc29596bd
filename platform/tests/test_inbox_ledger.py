"""The retry ledger: a failed event is kept, its key waits in order, and nothing is run twice."""

from __future__ import annotations

import pytest
from ledger_lab import Deliveries, Owner, incoming

from service_platform.database import Database
from service_platform.inbox import AlreadyHandled, AlreadyRetrying, InboxClaim, KeyBlocked, StaleWakeUp, WakeUp


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
