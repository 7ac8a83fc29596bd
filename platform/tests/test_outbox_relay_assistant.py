"""In a backlog a relay runs two passes side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from outbox_lab import Owner, ScriptedSink, all_sent, publish

from service_platform.database import Database
from service_platform.outbox import Delivered, OutboxRow, Relay


class SecondSink(ScriptedSink):
    """Takes everything, and says when it was first asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        self.asked.set()
        return await super().deliver(rows)


class FirstSink(ScriptedSink):
    """From its second batch on it waits for the other sink: alone it gets nothing more done."""

    def __init__(self, other: SecondSink) -> None:
        super().__init__()
        self.other = other
        self.taken = other.taken  # one list, in the order in which both took

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        if self.batches:
            async with asyncio.timeout(5):
                await self.other.asked.wait()
        return await super().deliver(rows)


async def test_while_one_batch_is_on_its_way_the_next_one_is_sent_and_each_key_keeps_its_order(
    database: Database, owner: Owner
) -> None:
    names = [f"k{key}/e{number:02}" for number in range(20) for key in range(40)]
    await publish(database, *names)
    second = SecondSink()
    first = FirstSink(second)
    relay = Relay(database, channel="kafka", sink=first, second_sink=second, batch=32)
    stop = asyncio.Event()
    running = [asyncio.create_task(relay.run(stop)), asyncio.create_task(relay.assist(stop))]
    try:
        await all_sent(owner)
    finally:
        stop.set()
        async with asyncio.timeout(10):
            await asyncio.gather(*running)
    assert sorted(second.taken) == sorted(names)
    for key in range(40):
        of_key = [name for name in second.taken if name.startswith(f"k{key}/")]
        assert of_key == sorted(of_key)
