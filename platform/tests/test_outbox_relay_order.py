"""Which rows a relay sends, and in which order: as committed, per key, and never past a failure."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import asyncpg
import pytest
from outbox_lab import Owner, ScriptedSink, acknowledge, all_sent, name_of, pending, publish, relaying, tries

from service_platform.database import Database
from service_platform.outbox import Delivered, OutboxMessage, OutboxRow, append
from world.waiting import eventually


async def publish_and_fail(database: Database) -> None:
    async with database.transaction() as tx:
        append(OutboxMessage("kafka", "events.order", "k", uuid4(), b"never"), tx)
        raise ZeroDivisionError


_PADDINGS = ("", ".", "x" * 900_000), (".",), ("", ".")


async def test_nothing_is_sent_before_its_commit_nor_after_a_rollback(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    async with relaying(database, sink, poll_seconds=0.05):
        with pytest.raises(ZeroDivisionError):
            await publish_and_fail(database)
        await publish(database, "k/after")
        await all_sent(owner)
    assert sink.taken == ["k/after"]


async def test_a_lower_number_that_commits_later_is_not_skipped(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    slow = await asyncpg.connect(
        **database.address.driver_arguments(),
    )
    async with relaying(database, sink, poll_seconds=0.05):
        transaction = slow.transaction()
        await transaction.start()
        await slow.execute(
            "SELECT outbox_append(ARRAY['kafka'], ARRAY['events.order'], ARRAY[''], ARRAY['k1'], "
            "ARRAY[gen_random_uuid()], ARRAY['{}'], ARRAY['k1/low'::bytea], ARRAY[NULL::timestamptz])"
        )
        await publish(database, "k2/high")
        await eventually(lambda: sink.taken, until=lambda taken: taken == ["k2/high"], what="the higher number is sent")
        await transaction.commit()
        await eventually(lambda: sink.taken, until=lambda taken: "k1/low" in taken, what="the lower one is sent too")
    await slow.close()
    assert sink.taken == ["k2/high", "k1/low"]


async def test_behind_a_failed_row_its_key_waits_and_others_flow(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    failed_once: list[bool] = []

    def fail_first(rows: Sequence[OutboxRow]) -> Delivered:
        if failed_once:
            return acknowledge(rows)
        failed_once.append(True)
        return Delivered(frozenset(row.position for row in rows if name_of(row) != "k1/e1"))

    sink.answer = fail_first
    await publish(database, "k1/e1", "k1/e2", "k2/e1")
    async with relaying(database, sink):
        await all_sent(owner)
    assert sink.batches[0] == ["k1/e1", "k1/e2", "k2/e1"]
    assert sink.batches[1] == ["k1/e1", "k1/e2"], "k1/e2 was acknowledged ahead of k1/e1, so it goes again, after it"


async def test_without_an_acknowledgement_a_row_stays_pending(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = lambda _rows: Delivered(frozenset())
    await publish(database, "k/e1")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: len(sink.batches), until=lambda n: n > 2, what="it is sent again")
        assert await pending(owner) == 1
        assert await tries(owner) == {"k/e1": 0}


async def test_a_deferred_row_goes_when_it_is_due_and_nothing_waits_for_it(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    due = time.time() + 3
    await publish(database, "k/late", not_before=datetime.fromtimestamp(due, UTC))
    await publish(database, "k/now")
    async with relaying(database, sink):
        await eventually(lambda: sink.taken, until=lambda taken: "k/now" in taken, what="what is due goes at once")
        assert time.time() < due
        assert sink.taken == ["k/now"]
        await eventually(lambda: sink.taken, until=lambda taken: len(taken) == 2, what="the deferred row goes too")
        assert time.time() >= due


async def test_a_batch_stays_within_its_bytes(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    big = "k/" + "x" * 900_000
    for _ in range(20):
        await publish(database, big)
    async with relaying(database, sink):
        await all_sent(owner)
    assert len(sink.taken) == 20
    assert max(sum(len(name) for name in batch) for batch in sink.batches) < 10 * 1024 * 1024


async def test_two_relays_keep_the_order_of_every_key_and_share_the_work(database: Database, owner: Owner) -> None:
    log: list[str] = []
    one, two = ScriptedSink(), ScriptedSink()
    one.taken = two.taken = log
    for n in range(40):
        await publish(database, *(f"k{key}/{n:03}" for key in range(50)))
    async with relaying(database, one, batch=100), relaying(database, two, batch=100):
        await all_sent(owner)
    assert len(log) == len(set(log)) == 2000, "no row is sent by both"
    for key in range(50):
        mine = [name for name in log if name.startswith(f"k{key}/")]
        assert mine == sorted(mine)
    assert one.batches
    assert two.batches


async def test_within_a_key_a_deferred_row_that_is_due_goes_by_its_position(database: Database, owner: Owner) -> None:
    """As it was committed, not as it came due: the retry of an older event is not sent behind a younger one."""
    await publish(database, "k/first", not_before=datetime.now(UTC) - timedelta(seconds=1))
    await publish(database, "k/second", not_before=datetime.now(UTC) - timedelta(seconds=9))
    await publish(database, "k/third")
    sink = ScriptedSink()
    async with relaying(database, sink):
        await all_sent(owner)
    assert sink.batches == [["k/first", "k/second", "k/third"]]


async def test_a_pass_takes_the_head_of_a_key_never_its_middle(database: Database, owner: Owner) -> None:
    """However small its share: by rows here, by bytes in the rounds of large messages."""
    names = [f"k{key}/{number:02}{padding}" for number in range(20) for key in range(3) for padding in _PADDINGS[key]]
    for start in range(0, len(names), 7):
        await publish(database, *names[start : start + 7])
    sink = ScriptedSink()
    async with relaying(database, sink, batch=4):
        await all_sent(owner)
    assert len(sink.batches) > 10
    for key in range(3):
        assert [n for n in sink.taken if n.startswith(f"k{key}/")] == [n for n in names if n.startswith(f"k{key}/")]
