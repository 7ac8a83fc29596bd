"""Two at once on one key: whoever comes second sees what the first one committed, and the order holds."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

import pytest
from ledger_lab import SERVICE, Deliveries, Owner, incoming

from service_platform.inbox import (
    AlreadyHandled,
    AlreadyRetrying,
    DeadLetterOffice,
    InboxClaim,
    IncomingEvent,
    KeyBlocked,
    RetryClaim,
    StaleWakeUp,
    WakeUp,
)
from world.waiting import eventually


class Held:
    """A run that has its claim and waits before its COMMIT."""

    def __init__(self, shop: Deliveries, claim: InboxClaim, event: IncomingEvent) -> None:
        self.claimed = asyncio.Event()
        self.end = asyncio.Event()
        self.task = asyncio.create_task(self._run(shop, claim, event))

    async def _run(self, shop: Deliveries, claim: InboxClaim, event: IncomingEvent) -> None:
        async with shop.database.transaction(claim=claim) as tx:
            await shop.write_effect(event, tx)
            self.claimed.set()
            await self.end.wait()

    async def commit(self) -> None:
        self.end.set()
        await self.task

    async def roll_back(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})


async def held(shop: Deliveries, event: IncomingEvent, wake_up: WakeUp | None = None) -> Held:
    claim = InboxClaim(event.consumer, event.source, event.key, event.event_id)
    run = Held(shop, RetryClaim(wake_up, SERVICE) if wake_up else claim, event)
    await run.claimed.wait()
    return run


async def until_it_waits(owner: Owner, waiters: int = 1) -> None:
    await eventually(
        lambda: owner.fetchval("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"),
        until=lambda n: n == waiters,
        what="the second one waits for the key's lock",
    )


async def test_a_later_event_waits_for_the_retried_head_and_runs_after_it(owner: Owner, shop: Deliveries) -> None:
    head, later = incoming(), incoming()
    await shop.fail(head)
    run = await held(shop, head, await shop.last_wake_up())
    second = asyncio.create_task(shop.run(later))
    await until_it_waits(owner)
    await run.commit()
    await second
    assert await shop.effects() == [head.event_id, later.event_id]


async def test_a_later_event_is_blocked_when_the_head_it_waited_for_fails_again(owner: Owner, shop: Deliveries) -> None:
    head, later = incoming(), incoming()
    await shop.fail(head)
    run = await held(shop, head, await shop.last_wake_up())
    second = asyncio.create_task(shop.run(later))
    await until_it_waits(owner)
    await run.roll_back()
    with pytest.raises(KeyBlocked):
        await second


async def test_an_append_that_comes_when_the_blocker_has_left_says_so(owner: Owner, shop: Deliveries) -> None:
    head, later = incoming(), incoming()
    await shop.fail(head)
    run = await held(shop, head, await shop.last_wake_up())
    appending = asyncio.create_task(shop.ledger.append_behind(later))
    await until_it_waits(owner)
    await run.commit()
    assert await appending is False
    assert await shop.pending() == []
    await shop.run(later)


async def test_the_second_owner_of_a_partition_finds_what_the_first_one_did(owner: Owner, shop: Deliveries) -> None:
    event = incoming()
    run = await held(shop, event)
    second = asyncio.create_task(shop.run(event))
    await until_it_waits(owner)
    await run.commit()
    with pytest.raises(AlreadyHandled):
        await second
    assert await shop.effects() == [event.event_id]


async def test_the_second_owner_runs_what_the_first_one_rolled_back(owner: Owner, shop: Deliveries) -> None:
    event = incoming()
    run = await held(shop, event)
    second = asyncio.create_task(shop.run(event))
    await until_it_waits(owner)
    await run.roll_back()
    await second
    assert await shop.effects() == [event.event_id]


async def test_a_zombie_that_wakes_up_after_the_failure_was_recorded_runs_nothing(shop: Deliveries) -> None:
    event = incoming()
    await shop.fail(event)
    with pytest.raises(AlreadyRetrying):
        await shop.run(event)
    assert await shop.fail(event) == "retrying"
    assert await shop.pending() == [(event.event_id, 1)]


async def test_of_two_wake_ups_at_once_one_is_obeyed(owner: Owner, shop: Deliveries) -> None:
    event = incoming()
    await shop.fail(event)
    wake_up = await shop.last_wake_up()
    run = await held(shop, event, wake_up)
    second = asyncio.create_task(shop.wake(wake_up))
    await until_it_waits(owner)
    await run.commit()
    with pytest.raises(StaleWakeUp):
        await second
    assert await shop.effects() == [event.event_id]


async def test_of_two_failures_of_one_attempt_one_is_counted(shop: Deliveries) -> None:
    event = incoming()
    await shop.fail(event)
    recorded = await asyncio.gather(*(shop.fail(event, attempts=1) for _ in range(4)))
    assert sorted(recorded) == ["retrying", "stale", "stale", "stale"]
    assert await shop.pending() == [(event.event_id, 2)]


async def test_a_requeue_waits_for_the_run_of_its_key(owner: Owner, shop: Deliveries) -> None:
    dead, other = incoming(), incoming()
    await shop.fail(dead, allowed=1)
    letter = await owner.fetchval("SELECT id FROM dead_letter")

    async def requeue() -> str:
        async with shop.database.transaction() as tx:
            return await DeadLetterOffice(SERVICE).requeue(tx, letter)

    run = await held(shop, other)
    requeuing = asyncio.create_task(requeue())
    await until_it_waits(owner)
    await run.commit()
    assert await requeuing == "requeued"
    await shop.wake(await shop.last_wake_up())
    assert await shop.effects() == [other.event_id, dead.event_id]


@pytest.mark.parametrize("who", ["claim", "wake-up", "append", "settle", "fail", "requeue", "discard"])
async def test_every_decision_about_a_key_waits_for_its_lock(owner: Owner, shop: Deliveries, who: str) -> None:
    """Without it an event could be appended behind a head that leaves unseen, and nobody would ever wake it."""
    event, dead = incoming(), incoming()
    await shop.fail(dead, allowed=1)
    letter = await owner.fetchval("SELECT id FROM dead_letter")
    await shop.fail(event)
    wake_up = await shop.last_wake_up()

    async def decide(letter: UUID) -> None:
        async with shop.database.transaction() as tx:
            if who == "requeue":
                await DeadLetterOffice(SERVICE).requeue(tx, letter)
            else:
                await DeadLetterOffice(SERVICE).discard(tx, letter, "no")

    deciding: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
        "claim": lambda: shop.run(event),
        "wake-up": lambda: shop.wake(wake_up),
        "append": lambda: shop.ledger.append_behind(incoming()),
        "settle": lambda: shop.ledger.settle(InboxClaim("c", "order", "k", event.event_id)),
        "fail": lambda: shop.fail(event, attempts=1),
        "requeue": lambda: decide(letter),
        "discard": lambda: decide(letter),
    }
    async with owner.transaction():
        await owner.execute("SELECT pg_advisory_xact_lock(inbox_key_lock('c', 'order', 'k'))")
        decision = asyncio.create_task(deciding[who]())
        await until_it_waits(owner)
    with contextlib.suppress(AlreadyRetrying):
        await decision
