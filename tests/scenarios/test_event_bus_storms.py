"""Relays through killings and outages that take a while: raised once, over all services, and judged for each.

The messages are a scenario's own, for topics that no consumer of the suite reads; `k1/0042` is a record of the key k1.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from functools import partial

import psutil
import pytest

from native.stack import Stack
from world.outboxes import Queued
from world.patterns import declared_by
from world.processes import family, send, stopped
from world.waiting import eventually
from world.world import World, have_all_up, open_world

KEYS = 40
BUDGET_SECONDS = 12.0  # more than a delivery, all tries of a suspect or the longest transaction may take


@dataclass
class Passage:
    """What one service committed for a topic, in the order of the commits, and what came out of it."""

    service: str
    topic: str
    committed: list[str] = field(default_factory=list)
    arrived: list[str] = field(default_factory=list)
    seen: list[Queued] = field(default_factory=list)

    async def publish(self, world: World, rounds: int) -> None:
        """A transaction a round, with the next message of every key."""
        for _ in range(rounds):
            number = len(self.committed) // KEYS
            names = [f"k{key}/{number:04}" for key in range(KEYS)]
            await world.outboxes.commit(self.service, self.topic, names)
            self.committed += names

    async def read(self, world: World) -> None:
        """All that arrived once all was sent, without repetitions, which are legal: what an inbox lets through."""
        await world.outboxes.until_sent(self.service, self.topic)
        records = await world.bus.everything(self.topic)
        self.arrived = list(dict.fromkeys(record.value.decode() for record in records))

    def check(self) -> None:
        """Nothing was lost, and each key's records arrived as they were committed."""
        assert len(self.committed) > 0
        assert sorted(self.arrived) == sorted(self.committed)
        for key in range(KEYS):
            mine = [name for name in self.arrived if name.startswith(f"k{key}/")]
            assert mine == sorted(mine)


def relays_of(world: World, service: str) -> list[psutil.Process]:
    """The service's relays that run at the moment."""
    relays = []
    for state in world.stack.processes():
        if state.name.startswith(f"{service}-relay") and state.pid is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                relays.append(psutil.Process(state.pid))
    return relays


async def send_something(world: World, passages: list[Passage]) -> None:
    """Before its first rows a relay asks for the broker, and would have none in hand when it finds it away."""
    for passage in passages:
        await passage.publish(world, 1)
        await world.outboxes.until_sent(passage.service, passage.topic)


async def through_a_stall(world: World, passages: list[Passage]) -> None:
    """Relays are stopped with rows in hand, for so long that the others have sent these as well, and go on then."""
    await send_something(world, passages)
    with contextlib.ExitStack() as stalled:
        with stopped(family(world.stack, "kafka")):
            for passage in passages:
                victims = await in_mid_batch(world, passage)
                stalled.enter_context(stopped(victims))
        for passage in passages:
            await passage.publish(world, 10)
        for passage in passages:
            await world.outboxes.until_sent(passage.service, passage.topic)
    for passage in passages:
        await passage.publish(world, 5)


async def in_mid_batch(world: World, passage: Passage) -> list[psutil.Process]:
    """Publish, and wait for relays that have the rows in hand; all of these, but one relay of the service at least."""
    await passage.publish(world, 10)

    async def look() -> list[psutil.Process]:
        ports = await world.outboxes.ports_in_hand(passage.service)
        relays = relays_of(world, passage.service)
        busy = [one for one in relays if any(c.laddr.port in ports for c in one.net_connections("tcp"))]
        return busy[: len(relays) - 1]

    return await eventually(look, what=f"{passage.service}'s relays have rows in hand")


async def through_killings(world: World, passage: Passage, dice: random.Random) -> None:
    """One relay after the other is killed, or stopped and resumed, while they drain what is being published."""

    async def running() -> list[psutil.Process]:
        return relays_of(world, passage.service)

    for what in dice.sample([signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGSTOP], k=4):
        victim = dice.choice(await eventually(running, what="a relay runs"))
        publishing = passage.publish(world, 5)
        if what == signal.SIGKILL:
            send([victim], what)
            await publishing
        else:
            with stopped([victim]):
                await publishing
        await world.outboxes.until_left(passage.service, passage.topic, 5 * KEYS)


async def through_an_outage(world: World, passages: list[Passage]) -> None:
    """Kafka goes away while it is written to, and stays away longer than any of the relay's budgets."""
    await send_something(world, passages)
    for passage in passages:
        await passage.publish(world, 5)
    await asyncio.to_thread(world.stack.stop, "kafka")
    back_at = time.monotonic() + BUDGET_SECONDS

    async def is_over() -> bool:
        for passage in passages:
            passage.seen.append(await world.outboxes.queued(passage.service, passage.topic))
        return time.monotonic() > back_at

    for passage in passages:
        await passage.publish(world, 20)
    relays = {passage.service: world.stack.pid(f"{passage.service}-relay") for passage in passages}
    await eventually(is_over, what="the outage is over", within=BUDGET_SECONDS + 30)
    assert relays == {passage.service: world.stack.pid(f"{passage.service}-relay") for passage in passages}
    await asyncio.to_thread(world.stack.start, "kafka")
    for passage in passages:
        await world.bus.until_readable(passage.topic)
        await passage.read(world)


async def under_relays(world: World, passages: list[Passage], relays: int) -> None:
    """What a number of relays of each service go through. The dice fall the same way every time."""
    for passage in passages:
        await asyncio.to_thread(world.stack.scale, f"{passage.service}-relay", relays, wait=False)
    await asyncio.to_thread(world.stack.wait_until_ready)
    await through_a_stall(world, passages)
    await asyncio.gather(*(through_killings(world, passage, random.Random(relays)) for passage in passages))
    for passage in passages:
        await passage.read(world)


def raised(stack: Stack, storm: Callable[[World, list[Passage]], Coroutine[None, None, None]]) -> dict[str, Passage]:
    """The passages of one storm over all services that declare the pattern."""

    async def raise_it() -> dict[str, Passage]:
        async with open_world(stack) as world, contextlib.AsyncExitStack() as topics:
            passages = [
                Passage(service, await topics.enter_async_context(world.bus.topic()))
                for service in declared_by("event-bus")
            ]
            await storm(world, passages)
            return {passage.service: passage for passage in passages}

    have_all_up(stack)
    return asyncio.run(raise_it())


@pytest.fixture(scope="module")
def killings(stack: Stack) -> Iterator[dict[int, dict[str, Passage]]]:
    """What came of each service's messages under two and under four relays."""
    yield {relays: raised(stack, partial(under_relays, relays=relays)) for relays in (4, 2)}
    for service in declared_by("event-bus"):
        stack.scale(f"{service}-relay", 1)


@pytest.fixture(scope="module")
def outage(stack: Stack) -> dict[str, Passage]:
    """What came of each service's messages that were committed around and during an outage of Kafka."""
    return raised(stack, through_an_outage)


@pytest.mark.scenario("event-bus/order-kept-across-relays")
@pytest.mark.parametrize("relays", [2, 4])
def test_relays_that_are_killed_stopped_and_resumed_lose_nothing_and_keep_each_keys_order(
    killings: dict[int, dict[str, Passage]], service: str, relays: int
) -> None:
    killings[relays][service].check()


@pytest.mark.scenario("event-bus/broker-outage-loses-nothing")
def test_what_was_committed_while_kafka_was_away_is_all_sent_after_it(outage: dict[str, Passage], service: str) -> None:
    passage = outage[service]
    assert max(queued.rows for queued in passage.seen) >= 20 * KEYS, "it was committed all the same"
    assert {queued.refused for queued in passage.seen} == {0}, "no row was blamed for the outage"
    passage.check()
