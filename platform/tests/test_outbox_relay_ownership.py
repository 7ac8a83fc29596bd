"""A shard has one relay at a time, and one that is stopped or stuck loses it within seconds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from outbox_lab import Owner, ScriptedSink, acknowledge, all_sent, name_of, pending, publish, relaying, shards_held

from service_platform.database import Database
from service_platform.outbox import Delivered, OutboxRow, Relay, SinkOverran
from service_platform.outbox.connection import DELIVERY_DEADLINE, open_connection
from service_platform.outbox.relay_pass import RelayPass
from world.waiting import eventually


class StuckSink(ScriptedSink):
    """Keeps what it was given until it is let go, and takes it then."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        self.batches.append([name_of(row) for row in rows])
        await self.let_go.wait()
        self._take(rows, acknowledge(rows).acknowledged)
        return acknowledge(rows)


@pytest.fixture
async def stuck() -> AsyncIterator[StuckSink]:
    stuck = StuckSink()
    yield stuck
    stuck.let_go.set()


async def end_the_transaction_in_hand(root: Owner) -> None:
    """What the server's idle limit does to it after some seconds."""
    ended = await root.fetchval(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%relay%' "
        "AND state = 'idle in transaction' AND datname = current_database()"
    )
    assert ended


async def test_while_one_relay_has_a_key_in_hand_no_other_sends_of_it(
    database: Database, owner: Owner, stuck: StuckSink
) -> None:
    other = ScriptedSink()
    await publish(database, "k/e1")
    async with relaying(database, stuck, poll_seconds=60):
        await eventually(lambda: stuck.batches, what="the first relay has the row in hand")
        async with relaying(database, other, poll_seconds=0.02):
            await publish(database, "k/e2", *(f"other{n}/e1" for n in range(100)))
            await eventually(lambda: len(other.taken), until=lambda n: n > 50, what="the second relay does the rest")
            assert "k/e1" not in other.taken
            assert "k/e2" not in other.taken
            stuck.let_go.set()
            await all_sent(owner)
    sent = [name for name in stuck.taken + other.taken if name.startswith("k/")]
    assert sent == ["k/e1", "k/e2"]


async def test_between_its_passes_a_relay_holds_no_shard(database: Database, owner: Owner) -> None:
    """A process that is stopped while it idles has no transaction that the server would end."""
    await publish(database, *(f"k{n}/e1" for n in range(100)))
    async with relaying(database, ScriptedSink(), poll_seconds=60):
        await all_sent(owner)
        await eventually(lambda: shards_held(owner), until=lambda n: n == 0, what="its pass has let go of its shards")


async def test_a_relay_sees_what_the_shards_last_owner_did_until_it_let_go(database: Database, owner: Owner) -> None:
    """It waits between the beginning of its pass and the lock while the owner marks the row as sent and commits."""
    await publish(database, "k/e1")
    await owner.execute(
        """
        CREATE OR REPLACE FUNCTION platform_now() RETURNS timestamptz LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
        BEGIN
            PERFORM pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1);
            RETURN clock_timestamp();
        END $$
        """
    )
    transaction = owner.transaction()
    await transaction.start()
    await owner.execute("SELECT outbox_take('kafka', 1, 1, '{}')")
    await owner.execute("SELECT pg_advisory_lock(1)")
    late = ScriptedSink()
    async with open_connection(database, "relay kafka") as connection:
        passing = asyncio.create_task(RelayPass(connection, "kafka", late, 100).batch([]))
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        await eventually(lambda: owner.fetchval(waiting), what="the late relay has begun its pass")
        await owner.execute("SELECT outbox_mark_sent(ARRAY[1::bigint])")
        await transaction.commit()
        await owner.execute("SELECT pg_advisory_unlock(1)")
        await passing
    assert late.taken == [], "the row was not sent again behind the back of its marking"


async def test_a_relay_whose_transaction_was_ended_loses_its_shards(
    database: Database, owner: Owner, root: Owner, stuck: StuckSink
) -> None:
    healthy = ScriptedSink()
    await publish(database, "k/e1", "k/e2")
    async with relaying(database, stuck, poll_seconds=60):
        await eventually(lambda: stuck.batches, what="the first relay has the rows in hand")
        await end_the_transaction_in_hand(root)
        async with relaying(database, healthy, poll_seconds=0.05):
            await all_sent(owner)
        assert healthy.taken == ["k/e1", "k/e2"]
        stuck.let_go.set()


async def test_a_relay_whose_transaction_was_ended_cannot_mark(
    database: Database, owner: Owner, root: Owner, stuck: StuckSink
) -> None:
    await publish(database, "k/e1", "k/e2")
    async with relaying(database, stuck, poll_seconds=0.05):
        await eventually(lambda: stuck.batches, what="the relay has the rows in hand")
        await end_the_transaction_in_hand(root)
        stuck.let_go.set()
        await all_sent(owner)
    assert stuck.taken == ["k/e1", "k/e2", "k/e1", "k/e2"], "what it could not mark it had to send again"


async def test_a_sink_that_never_answers_ends_its_relay(
    database: Database, owner: Owner, stuck: StuckSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service_platform.outbox.relay_pass._OVERDUE_SECONDS", 0.2 - DELIVERY_DEADLINE)
    await publish(database, "k/e1")
    with pytest.raises(SinkOverran):
        async with asyncio.timeout(10):
            await Relay(database, channel="kafka", sink=stuck).run(asyncio.Event())
    assert await pending(owner) == 1


async def test_the_server_ends_what_a_delivery_cannot_reach(database: Database) -> None:
    async with open_connection(database, "relay kafka") as connection:
        idle, whole = [
            float((await connection.fetchval(f"SHOW {name}")).removesuffix("s"))
            for name in ("idle_in_transaction_session_timeout", "transaction_timeout")
        ]
    assert DELIVERY_DEADLINE + 1 < idle < whole < 15, "a delivery ends before the server ends it, and soon"
