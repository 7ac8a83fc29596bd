"""Rows that the broker refuses: suspected in company, parked alone, released or discarded by a person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from outbox_lab import (
    Owner,
    ScriptedSink,
    acknowledge,
    all_sent,
    name_of,
    parked,
    pending,
    publish,
    refuse,
    relaying,
    tries,
)

from service_platform.database import Database
from service_platform.outbox import Delivered, OutboxRow, RowNotParked, SinkUnavailable, discard, release
from service_platform.outbox.relay_pass import MAX_TRIES
from world.waiting import eventually


async def test_many_suspects_do_not_wait_for_each_other(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = lambda rows: (
        Delivered(frozenset(), {row.position: "in company" for row in rows}) if len(rows) > 1 else acknowledge(rows)
    )
    await publish(database, *(f"k{n}/e1" for n in range(120)))
    async with relaying(database, sink):
        await all_sent(owner, within=20)


async def test_a_record_refused_alone_is_parked_and_holds_only_its_key(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = refuse("k1/bad")
    await publish(database, "k1/e1", "k1/bad", "k1/e3", "k2/e1")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: parked(owner), until=lambda names: names == ["k1/bad"], what="the bad one is parked")
        await publish(database, "k1/e4", "k2/e2")
        await eventually(lambda: sink.taken, until=lambda taken: "k2/e2" in taken, what="another key flows")
    assert sorted(sink.taken) == ["k1/e1", "k2/e1", "k2/e2"], "its own key waits"
    assert await tries(owner) == {"k1/bad": 3, "k1/e3": 0, "k1/e4": 0}, "the neighbours burnt no try"
    alone = [batch for batch in sink.batches if batch == ["k1/bad"]]
    assert len(alone) == 3, "only what happened to it alone was counted"


async def test_a_held_key_holds_neither_the_key_of_another_consumer_nor_of_another_destination(
    database: Database, owner: Owner
) -> None:
    sink = ScriptedSink()
    sink.answer = refuse("k/bad")
    await publish(database, "k/bad", consumer="order.timeline", destination="events.order.retry")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: parked(owner), what="the bad one is parked")
        await publish(database, "k/e1", consumer="order.numbers", destination="events.order.retry")
        await publish(database, "k/e2", consumer="order.timeline", destination="events.order.dlq")
        await all_sent(owner)
    assert sorted(sink.taken) == ["k/e1", "k/e2"]


async def test_a_held_key_of_one_channel_does_not_hold_the_same_key_of_the_other(
    database: Database, owner: Owner
) -> None:
    kafka, celery = ScriptedSink(), ScriptedSink()
    kafka.answer = refuse("k/bad")
    await publish(database, "k/bad", destination="order")
    async with relaying(database, kafka, poll_seconds=0.05), relaying(database, celery, channel="celery"):
        await eventually(lambda: parked(owner), what="the bad one is parked")
        await publish(database, "k/job", destination="order", channel="celery")
        await all_sent(owner)
    assert celery.taken == ["k/job"]


async def test_an_outage_is_no_verdict_on_a_suspect(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    outages: list[str] = []

    def away_for_one_alone(rows: Sequence[OutboxRow]) -> Delivered:
        if len(rows) > 1:
            return Delivered(frozenset(), {row.position: "in company" for row in rows})
        if len(outages) < 2 * MAX_TRIES:
            outages.append(name_of(rows[0]))
            raise SinkUnavailable("broker away")
        return acknowledge(rows)

    sink.answer = away_for_one_alone
    await publish(database, "k1/e1", "k2/e1")
    async with relaying(database, sink, poll_seconds=0.05):
        await all_sent(owner, within=30)
    assert sink.probes >= len(outages) > MAX_TRIES, "after each the relay waited until the broker answered"


async def test_behind_a_parked_row_even_a_suspect_of_its_key_waits(database: Database, owner: Owner) -> None:
    """An older row that was deferred may be refused after a younger one."""
    sink = ScriptedSink()
    await publish(database, "k/parked", "k/suspect", "other/suspect")
    await owner.execute("SELECT outbox_mark_suspect(ARRAY[1, 2, 3], ARRAY['no', 'no', 'no'])")
    await owner.execute("SELECT outbox_refuse(1, 'alone', 1::smallint, '0 s')")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: sink.taken, what="the other key's suspect is sent")
        await publish(database, "last/e1")
        await eventually(lambda: sink.taken, until=lambda taken: "last/e1" in taken, what="another pass is over")
    assert sink.taken == ["other/suspect", "last/e1"]


async def test_only_a_suspect_is_judged_and_its_first_refusal_stays(database: Database, owner: Owner) -> None:
    await publish(database, "k1/pending", "k2/suspect", "k3/parked")
    await owner.execute("SELECT outbox_mark_suspect(ARRAY[2, 3], ARRAY['first', 'first'])")
    await owner.execute("SELECT outbox_refuse(3, 'alone', 1::smallint, '0 s')")
    before = await owner.fetch("SELECT * FROM outbox_queue ORDER BY position")
    await owner.execute("SELECT outbox_mark_suspect(ARRAY[2, 3], ARRAY['second', 'second'])")
    for position in (1, 3):
        assert await owner.fetchval("SELECT outbox_refuse($1, 'again', 1::smallint, '1 h')", position) is None
    assert await owner.fetch("SELECT * FROM outbox_queue ORDER BY position") == before
    assert await parked(owner) == ["k3/parked"]


async def test_a_suspect_that_gets_through_alone_is_sent_before_its_followers(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = lambda rows: (
        Delivered(frozenset(), {row.position: "refused in company" for row in rows})
        if len(rows) > 1 and any(name_of(row).endswith("e1") for row in rows)
        else acknowledge(rows)
    )
    await publish(database, "k1/e1", "k1/e2", "k2/e1", "k2/e2")
    async with relaying(database, sink, poll_seconds=0.05):
        await all_sent(owner)
    for key in ("k1", "k2"):
        assert [name for name in sink.taken if name.startswith(key)] == [f"{key}/e1", f"{key}/e2"]


async def test_the_pauses_between_tries_are_kept(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = refuse("k/bad")
    await publish(database, "k/bad")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: parked(owner), what="it is parked")
    lasted = await owner.fetchval("SELECT parked_at - created_at FROM outbox JOIN outbox_queue USING (position)")
    assert lasted > timedelta(seconds=2), "three tries, a second apart, outlast a hiccup of the broker"


async def test_a_released_row_goes_first_and_its_followers_in_order_after_it(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = refuse("k/bad")
    await publish(database, "k/bad", "k/e2", "k/e3")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: parked(owner), what="it is parked")
        await publish(database, "k/e4", "other/e1")
        await eventually(lambda: sink.taken, until=lambda taken: taken == ["other/e1"], what="another key flows")
        sink.answer = acknowledge
        async with database.transaction() as tx:
            await release(tx, await position_of(owner, "k/bad"))
        await all_sent(owner)
    assert sink.taken == ["other/e1", "k/bad", "k/e2", "k/e3", "k/e4"]


async def test_a_released_row_that_is_refused_again_is_parked_again_and_disturbs_nobody(
    database: Database, owner: Owner
) -> None:
    sink = ScriptedSink()
    sink.answer = refuse("k/bad")
    await publish(database, "k/bad", "k/e2")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: parked(owner), what="it is parked")
        sink.batches.clear()
        await publish(database, *(f"other/{n}" for n in range(10)))
        async with database.transaction() as tx:
            await release(tx, await position_of(owner, "k/bad"))
        await eventually(lambda: tries(owner), until=lambda t: t == {"k/bad": 3, "k/e2": 0}, what="it is parked again")
    assert await parked(owner) == ["k/bad"]
    assert all(batch == ["k/bad"] for batch in sink.batches if "k/bad" in batch), "it was tried alone"


async def test_a_discarded_row_is_never_sent_stays_as_evidence_and_lets_its_followers_go(
    database: Database, owner: Owner
) -> None:
    sink = ScriptedSink()
    sink.answer = refuse("k/bad")
    await publish(database, "k/bad", "k/e2", "k/e3")
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: parked(owner), what="it is parked")
        async with database.transaction() as tx:
            await discard(tx, await position_of(owner, "k/bad"), reason="too large for anybody")
        await all_sent(owner)
    assert sink.taken == ["k/e2", "k/e3"]
    evidence = await owner.fetchrow("SELECT * FROM outbox WHERE discarded_at IS NOT NULL")
    assert evidence is not None
    assert (evidence["payload"], evidence["discarded_because"]) == (b"k/bad", "too large for anybody")


async def test_only_a_parked_row_can_be_released_or_discarded(database: Database, owner: Owner) -> None:
    """What is pending, deferred or suspect is the relay's: nobody can make an unsent event disappear."""
    await publish(database, "k1/pending", "k2/suspect")
    await publish(database, "k3/deferred", not_before=datetime.now(UTC) + timedelta(hours=1))
    await owner.execute("SELECT outbox_mark_suspect(ARRAY[2::bigint], ARRAY['no'])")
    for position in (1, 2, 3, 4711):
        async with database.transaction() as tx:
            with pytest.raises(RowNotParked):
                await release(tx, position)
            with pytest.raises(RowNotParked):
                await discard(tx, position, reason="no")
    assert await pending(owner) == 3


async def position_of(owner: Owner, name: str) -> int:
    position: int = await owner.fetchval("SELECT position FROM outbox WHERE payload = $1", name.encode())
    return position
