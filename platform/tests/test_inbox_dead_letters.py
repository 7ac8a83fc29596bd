"""What operators do about dead letters: requeue runs an event once more, discard gives it up, and both once only."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from ledger_lab import SERVICE, Deliveries, Owner, incoming

from service_platform.database import Database
from service_platform.inbox import (
    AlreadyBuried,
    AlreadyHandled,
    DeadLetterNameless,
    DeadLetterNotFound,
    DeadLetterOffice,
    DeadLetterResolved,
    IncomingEvent,
    dead_letters,
    pending_retries,
)

OFFICE = DeadLetterOffice(SERVICE)


async def bury(shop: Deliveries, event: IncomingEvent, *, hold: bool = False) -> UUID:
    assert await shop.fail(event, allowed=1, hold=hold) == "buried"
    letter: UUID = await shop.owner.fetchval("SELECT id FROM dead_letter WHERE event_id = $1", event.event_id)
    return letter


async def requeue(shop: Deliveries, letter: UUID) -> str:
    async with shop.database.transaction() as tx:
        return await OFFICE.requeue(tx, letter)


async def discard(shop: Deliveries, letter: UUID, reason: str = "seen to by hand") -> None:
    async with shop.database.transaction() as tx:
        await OFFICE.discard(tx, letter, reason)


async def test_a_requeued_event_takes_effect_once(shop: Deliveries) -> None:
    event = incoming()
    assert await requeue(shop, await bury(shop, event)) == "requeued"
    wake_up = await shop.last_wake_up()
    assert (wake_up.event_id, wake_up.attempts) == (event.event_id, 0)
    await shop.wake(wake_up)
    assert await shop.effects() == [event.event_id]
    with pytest.raises(AlreadyHandled):
        await shop.run(event)


async def test_a_requeued_event_has_all_its_attempts_again_and_keeps_its_history(
    owner: Owner, shop: Deliveries
) -> None:
    event = incoming()
    letter = await bury(shop, event)
    await requeue(shop, letter)
    assert await shop.fail(event, attempts=0, allowed=2) == "retrying"
    assert await shop.fail(event, attempts=1, allowed=2) == "buried"
    rows = await owner.fetch("SELECT id, state, jsonb_array_length(history), resolved_at FROM dead_letter")
    assert [tuple(row) for row in rows] == [(letter, "dead", 3, None)]
    assert await requeue(shop, letter) == "requeued", "and it can be requeued again"


async def test_an_event_that_took_effect_after_all_is_not_run_by_a_requeue(owner: Owner, shop: Deliveries) -> None:
    event = incoming()
    letter = await bury(shop, event)
    await owner.execute("INSERT INTO inbox VALUES ('c', 'order', $1, now())", event.event_id)
    assert await requeue(shop, letter) == "handled"
    assert await shop.pending() == []
    assert await shop.wake_ups() == []
    assert await owner.fetchval("SELECT state FROM dead_letter") == "requeued"


async def test_a_requeued_event_goes_behind_what_waits_in_its_key(shop: Deliveries) -> None:
    dead, head = incoming(), incoming()
    letter = await bury(shop, dead)
    await shop.fail(head)
    await requeue(shop, letter)
    await shop.wake(await shop.last_wake_up())
    await shop.wake(await shop.last_wake_up())
    assert await shop.effects() == [head.event_id, dead.event_id]


async def test_a_requeued_event_that_held_its_key_goes_first(shop: Deliveries) -> None:
    dead, behind = incoming(), incoming()
    letter = await bury(shop, dead, hold=True)
    await shop.ledger.append_behind(behind)
    await requeue(shop, letter)
    await shop.wake(await shop.last_wake_up())
    await shop.wake(await shop.last_wake_up())
    assert await shop.effects() == [dead.event_id, behind.event_id]


async def test_a_requeued_event_is_due_at_once_whatever_its_last_pause(
    database: Database, owner: Owner, shop: Deliveries
) -> None:
    patient, event = Deliveries(database, owner, pause_seconds=600), incoming()
    await requeue(patient, await bury(patient, event, hold=True))
    wake_up = await shop.last_wake_up()
    assert wake_up.attempts == 0
    await shop.wake(wake_up)
    assert await shop.effects() == [event.event_id]


async def test_a_key_held_by_an_event_that_took_effect_after_all_goes_on_when_it_is_requeued(
    owner: Owner, shop: Deliveries
) -> None:
    dead, behind = incoming(), incoming()
    letter = await bury(shop, dead, hold=True)
    await shop.ledger.append_behind(behind)
    await owner.execute("INSERT INTO inbox VALUES ('c', 'order', $1, now())", dead.event_id)
    assert await requeue(shop, letter) == "handled"
    await shop.wake(await shop.last_wake_up())
    assert await shop.effects() == [behind.event_id]


async def test_a_requeued_event_that_held_its_key_has_each_failure_in_its_history_once(
    owner: Owner, shop: Deliveries
) -> None:
    dead = incoming()
    await requeue(shop, await bury(shop, dead, hold=True))
    assert await shop.fail(dead, attempts=0, allowed=2, hold=True) == "retrying"
    assert await shop.fail(dead, attempts=1, allowed=2, hold=True) == "buried"
    tries = await owner.fetchval("SELECT jsonb_path_query_array(history, '$[*].attempt')::text FROM dead_letter")
    assert tries == "[1, 1, 2]"


async def test_an_event_that_died_behind_a_head_holds_its_key_when_its_turn_comes(shop: Deliveries) -> None:
    """Bytes that nobody can parse are buried before anything is asked about the key."""
    head, dead, behind = incoming(), incoming(), incoming()
    await shop.fail(head)
    letter = await bury(shop, dead, hold=True)
    await shop.ledger.append_behind(behind)
    async with shop.database.read() as session:
        assert [retry.is_head for retry in await pending_retries(session)] == [True, False, False]
    await shop.wake(await shop.last_wake_up())
    assert len(await shop.pending()) == 2
    assert (await shop.last_wake_up()).event_id == head.event_id, "nobody is woken"
    await discard(shop, letter)
    await shop.wake(await shop.last_wake_up())
    assert await shop.effects() == [head.event_id, behind.event_id]


async def test_a_discarded_event_that_held__its_key_lets_it_go(owner: Owner, shop: Deliveries) -> None:
    dead, behind = incoming(), incoming()
    letter = await bury(shop, dead, hold=True)
    await shop.ledger.append_behind(behind)
    await discard(shop, letter, "no\0such order")
    await shop.wake(await shop.last_wake_up())
    assert await shop.effects() == [behind.event_id]
    with pytest.raises(AlreadyBuried):
        await shop.run(dead)
    assert await owner.fetchval("SELECT reason FROM dead_letter") == "no\N{REPLACEMENT CHARACTER}such order"


async def test_a_dead_letter_is_dealt_with_once(shop: Deliveries) -> None:
    requeued, discarded = await bury(shop, incoming(key="a")), await bury(shop, incoming(key="b"))
    await requeue(shop, requeued)
    await discard(shop, discarded)
    for letter, state in ((requeued, "requeued"), (discarded, "discarded")):
        for attempt in (requeue(shop, letter), discard(shop, letter)):
            with pytest.raises(DeadLetterResolved) as refused:
                await attempt
            assert refused.value.facts["state"] == state
    assert len(await shop.pending()) == 1


async def test_what_is_not_there_and_what_has_no_name_is_refused(owner: Owner, shop: Deliveries) -> None:
    for attempt in (requeue(shop, uuid4()), discard(shop, uuid4())):
        with pytest.raises(DeadLetterNotFound):
            await attempt
    await shop.ledger.bury_nameless(key="", headers={}, payload=b"", origin="t/0@1 1", error=ValueError("bare"))
    letter = await owner.fetchval("SELECT id FROM dead_letter")
    with pytest.raises(DeadLetterNameless):
        await requeue(shop, letter)
    await discard(shop, letter)


async def test_operators_list_what_is_dead_and_what_waits_page_by_page(shop: Deliveries) -> None:
    dead = [await bury(shop, incoming(key=f"dead {n}", number=n)) for n in range(5)]
    waiting = [incoming(key="slow"), incoming(key="slow")]
    await shop.fail(waiting[0])
    await shop.ledger.append_behind(waiting[1])
    async with shop.database.read() as session:
        first = await dead_letters(session, event_name="thing.happened", consumer="c", limit=3)
        rest = await dead_letters(session, after=first[-1].id, limit=3)
        assert [letter.id for letter in first + rest] == dead
        assert first[0].payload == b'{"number": 0}'
        assert first[0].headers["event-name"] == "thing.happened"
        assert first[0].history[0]["attempt"] == 1
        assert await dead_letters(session, event_name="other") == []
        assert [found.id for found in await dead_letters(session, letter=dead[2])] == [dead[2]]
        retries = await pending_retries(session, consumer="c")
        assert [(r.event_id, r.attempts, r.is_head) for r in retries] == [
            (waiting[0].event_id, 1, True),
            (waiting[1].event_id, 0, False),
        ]
        assert await pending_retries(session, after=retries[-1].position) == []
