"""A relay that has nothing to do: woken at once by a commit, and cheap until then."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from outbox_lab import Owner, ScriptedSink, publish, relaying

from service_platform.database import Database
from service_platform.outbox import WakeUp
from world.waiting import eventually


async def test_a_commit_wakes_the_relay_without_waiting_for_its_poll(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    stop = asyncio.Event()
    wake_up = asyncio.create_task(WakeUp(database).run(stop))
    async with relaying(database, sink, poll_seconds=60) as relay:
        await eventually(lambda: relay.ready or None, within=20, what="the relay is connected", until=lambda _: True)
        for n in range(20):
            await publish(database, f"k/{n}")
            await eventually(lambda: len(sink.taken), until=lambda taken, n=n: taken == n + 1, within=20, what="a hint")
    stop.set()
    await wake_up


async def test_the_hint_is_never_sent_by_the_business_transaction(database: Database, owner: Owner) -> None:
    """A transaction that notifies holds a lock of the whole server through its commit."""
    WakeUp(database)
    seen: list[str] = []
    await owner.add_listener("outbox_kafka", lambda *args: seen.append(str(args)))
    await publish(database, "k/e1")
    await owner.execute("SELECT 1")
    assert seen == [], "the loop that sends hints does not run here, so none came"


async def test_an_idle_relay_asks_once_a_second_with_one_statement(
    database: Database, owner: Owner, root: Owner
) -> None:
    sink = ScriptedSink()
    async with relaying(database, sink) as relay:
        await eventually(lambda: relay.ready, what="the relay has asked once")
        query = "SELECT query, state_change FROM pg_stat_activity WHERE application_name LIKE '%relay%' "
        query += "AND datname = current_database()"
        asked = {}
        for _ in range(3):
            before = await root.fetchrow(query)
            assert before is not None
            after = await eventually(
                lambda: root.fetchrow(query),
                until=lambda row, before=before: row["state_change"] != before["state_change"],
                what="it asks again",
            )
            asked[after["state_change"]] = after["query"]
    assert set(asked.values()) == {"SELECT outbox_next_due($1)"}
    times = sorted(asked)
    assert times[-1] - times[0] > timedelta(seconds=1.8)
    assert not sink.batches
