"""Several engines at once, with failures and crashes at every boundary: one effect each, in the order of the key."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from ledger_lab import SERVICE, Deliveries, Owner, incoming

from service_platform.database import Database
from service_platform.inbox import DeliveryRefused, InboxClaim, IncomingEvent, KeyBlocked, RetryClaim, WakeUp


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
