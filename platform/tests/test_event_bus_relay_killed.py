"""Relays that are killed, stopped and resumed while they drain: nothing lost, order kept, one effect each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

import asyncpg
from bus_lab import first_arrivals, reading

from service_platform.database import Database
from service_platform.outbox import OutboxMessage, append
from world.waiting import eventually

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
_KEYS = 40


@contextlib.contextmanager
def relay_process(database: Database, kafka: str) -> Iterator[subprocess.Popen[bytes]]:
    told = {"address": asdict(database.address), "kafka": kafka, "batch": 100}
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("relay_process.py"))],
        env={**os.environ, "RELAY_PROCESS": json.dumps(told)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


async def fill(database: Database, source: str, rounds: range) -> list[str]:
    names = [f"k{key}/{n:04}" for n in rounds for key in range(_KEYS)]
    for start in range(0, len(names), 500):
        async with database.transaction() as tx:
            for name in names[start : start + 500]:
                append(OutboxMessage("kafka", f"events.{source}", name.split("/")[0], uuid4(), name.encode()), tx)
    return names


async def unsent(owner: Owner) -> int:
    count: int = await owner.fetchval("SELECT count(*) FROM outbox_queue")
    return count


async def check_arrivals(kafka: str, source: str, names: list[str]) -> list[str]:
    with reading(kafka, source) as reader:
        values = await eventually(
            reader.values, until=lambda seen: len(set(seen)) == len(names), within=30, what="every record is there"
        )
    arrived = first_arrivals(values)
    assert sorted(arrived) == sorted(names)
    for key in range(_KEYS):
        mine = [name for name in arrived if name.startswith(f"k{key}/")]
        assert mine == sorted(mine), "a key's order is broken"
    return values


async def test_a_relay_killed_in_mid_batch_loses_nothing_and_repeats_one_batch_at_most(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    names = await fill(database, source, range(100))
    for kill in range(3):
        with relay_process(database, kafka) as relay:
            left = len(names) - (kill + 1) * 900
            await eventually(
                lambda: unsent(owner), until=lambda n, left=left: n < left, within=90, every=0, what="it drains"
            )
            relay.send_signal(signal.SIGKILL)
            relay.wait(10)
    assert await unsent(owner) > 0, "it was killed in the middle"
    with relay_process(database, kafka):
        await eventually(lambda: unsent(owner), until=lambda n: n == 0, within=30, what="the next one finishes")
    values = await check_arrivals(kafka, source, names)
    assert len(values) - len(names) <= 3 * 116, "more than the batch in hand was sent again"


async def test_order_holds_while_relays_are_killed_stopped_and_resumed(
    database: Database, owner: Owner, kafka: str, source: str
) -> None:
    dice = random.Random(7)
    names = await fill(database, source, range(60))
    with contextlib.ExitStack() as processes:
        relays = [processes.enter_context(relay_process(database, kafka)) for _ in range(3)]
        await eventually(lambda: unsent(owner), until=lambda n: n < len(names), within=90, every=0, what="they drain")
        # Stopped beyond what the server allows a transaction: its shards go to the others, then it goes on.
        relays[0].send_signal(signal.SIGSTOP)
        relays[1].send_signal(signal.SIGKILL)
        relays.append(processes.enter_context(relay_process(database, kafka)))
        names += await fill(database, source, range(60, 90))
        await eventually(lambda: unsent(owner), until=lambda n: n == 0, within=60, what="the others finish its shards")
        names += await fill(database, source, range(90, 120))
        relays[0].send_signal(signal.SIGCONT)
        for _ in range(10):
            one = dice.choice([relays[0], relays[2], relays[3]])
            one.send_signal(signal.SIGSTOP)
            await asyncio.to_thread(one.poll)
            one.send_signal(signal.SIGCONT)
        await eventually(lambda: unsent(owner), until=lambda n: n == 0, within=60, what="all is sent")
    await check_arrivals(kafka, source, names)
