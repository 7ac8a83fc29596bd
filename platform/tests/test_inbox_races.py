"""Two at once on one key: whoever comes second sees what the first one committed, and the order holds."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any
from uuid import UUID

import pytest
from ledger_lab import SERVICE, Deliveries, Owner, incoming
from probing import eventually

from service_platform.database import Database
from service_platform.inbox import (
    AlreadyHandled,
    AlreadyRetrying,
    DeadLetterOffice,
    DeliveryRefused,
    InboxClaim,
    IncomingEvent,
    KeyBlocked,
    RetryClaim,
    StaleWakeUp,
    WakeUp,
)


@pytest.fixture
async def shop(database: Database, owner: Owner) -> Deliveries:
    shop = Deliveries(database, owner)
    await shop.make_effects()
    return shop


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


class Sick(Exception):
    """A handler throws."""


class Engine:
    """One of several engines that deliver the same events: in order within a key, as Kafka gives them, from anywhere
    before what is committed, and with failures, lost answers and crashes at every boundary."""

    def __init__(self, shop: Deliveries, dice: random.Random) -> None:
        self.shop = shop
        self.dice = dice

    async def deliver(self, event: IncomingEvent) -> None:
        """As `event_bus.handling` decides; every step may be the last before a crash."""
        while True:
            try:
                await self._run(event, InboxClaim(event.consumer, event.source, event.key, event.event_id))
            except KeyBlocked:
                if self._crashes() or await self.shop.ledger.append_behind(event):
                    return
                continue
            except DeliveryRefused:
                pass
            except Sick:
                if not self._crashes():
                    await self.shop.fail(event, allowed=100)
            return

    async def obey(self, wake_up: WakeUp) -> None:
        event = await self.shop.ledger.entry(wake_up)
        if event is None or self._crashes():
            return
        try:
            await self._run(event, RetryClaim(wake_up, SERVICE))
        except DeliveryRefused:
            pass
        except Sick:
            if not self._crashes():
                await self.shop.ledger.record_failure(event, Sick(), attempts_allowed=100)

    async def _run(self, event: IncomingEvent, claim: InboxClaim) -> None:
        async with self.shop.database.transaction(claim=claim) as tx:
            await self.shop.write_effect(event, tx)
            if self.dice.random() < 0.4:
                raise Sick

    def _crashes(self) -> bool:
        return self.dice.random() < 0.1


@pytest.fixture
async def wide(database: Database) -> AsyncIterator[Database]:
    wide = Database(database.address, application_name="test", pool_size=16)
    yield wide
    await wide.close()


@pytest.mark.parametrize("seed", range(4))
async def test_under_every_interleaving_each_event_has_one_effect_in_the_order_of_its_key(
    wide: Database, owner: Owner, seed: int
) -> None:
    """Three engines deliver 5 x 12 events, each from its own place, while a fourth obeys wake-ups in any order.

    Order holds from the first delivery on: Kafka gives a key's events in order, so an engine never delivers a later
    one before all earlier ones were decided by somebody.
    """
    dice = random.Random(seed)
    shop = Deliveries(wide, owner)
    await shop.make_effects()
    events = {key: [incoming(key=key, number=number) for number in range(12)] for key in "abcde"}

    async def partition(key: str) -> None:
        """The members that own this key's partition, one after the other, with zombies of the one before."""
        position = 0
        zombies: set[asyncio.Task[None]] = set()
        while position < len(events[key]):
            engine = Engine(shop, dice)
            if dice.random() < 0.3:  # taken over: the old owner is still at it when the new one starts
                zombies.add(asyncio.create_task(Engine(shop, dice).deliver(events[key][position])))
            if dice.random() < 0.2:  # the offset was not committed: some come again
                for event in events[key][max(0, position - 3) : position]:
                    await engine.deliver(event)
            await engine.deliver(events[key][position])
            if await decided(events[key][position]):
                position += 1
        await asyncio.gather(*zombies)

    async def decided(event: IncomingEvent) -> bool:
        return bool(
            await pool_value(
                "SELECT EXISTS (SELECT FROM inbox WHERE event_id = $1) OR EXISTS "
                "(SELECT FROM retry_ledger WHERE event_id = $1)",
                event.event_id,
            )
        )

    async def pool_value(query: str, *values: object) -> object:
        async with wide.autocommit() as driver:
            return await driver.fetchval(query, *values)

    done = asyncio.Event()

    async def wake() -> None:
        seen: list[WakeUp] = []
        while not (done.is_set() and await pool_value("SELECT count(*) FROM retry_ledger") == 0):
            seen = await shop.wake_ups()
            if seen:
                chosen = [*seen[-8:], *dice.choices(seen, k=4)]  # the newest, and old ones again
                dice.shuffle(chosen)
                await asyncio.gather(*(Engine(shop, dice).obey(wake_up) for wake_up in chosen))
            await shop.ledger.wake_overdue(first_wait_seconds=0)
            await asyncio.sleep(0)

    async with asyncio.timeout(90):
        waking = asyncio.create_task(wake())
        await asyncio.gather(*(partition(key) for key in events))
        done.set()
        await waking

    effects: dict[str, list[UUID]] = defaultdict(list)
    for row in await owner.fetch("SELECT key, event_id FROM effect ORDER BY at"):
        effects[row["key"]].append(row["event_id"])
    assert effects == {key: [event.event_id for event in events[key]] for key in events}
