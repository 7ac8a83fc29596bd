"""The relay's loop, on a real database and a sink that fails as it is told."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias
from uuid import uuid4

import asyncpg
import pytest
from probing import eventually

from service_platform.database import Database
from service_platform.outbox import (
    Channel,
    Delivered,
    OutboxMessage,
    OutboxRow,
    Relay,
    SinkOverran,
    SinkUnavailable,
    WakeUp,
    append,
)
from service_platform.outbox.connection import DELIVERY_DEADLINE, open_connection

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Answer = Callable[[Sequence[OutboxRow]], Delivered]


def acknowledge(rows: Sequence[OutboxRow]) -> Delivered:
    return Delivered(frozenset(row.position for row in rows))


class ScriptedSink:
    """Takes everything, unless told otherwise. Remembers what it took, in order."""

    def __init__(self) -> None:
        self.answer: Answer = acknowledge
        self.batches: list[list[str]] = []
        self.taken: list[str] = []
        self.probes = 0
        self.is_away = False

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        self.batches.append([text(row) for row in rows])
        try:
            delivered = self.answer(rows)
        except SinkUnavailable as outage:
            self._take(rows, outage.acknowledged)
            raise
        self._take(rows, delivered.acknowledged)
        return delivered

    async def probe(self) -> None:
        self.probes += 1
        if self.is_away:
            raise SinkUnavailable("still away")

    def _take(self, rows: Sequence[OutboxRow], acknowledged: frozenset[int]) -> None:
        self.taken += [text(row) for row in rows if row.position in acknowledged]


def text(row: OutboxRow) -> str:
    return row.payload.decode()


async def publish(
    database: Database,
    *names: str,
    destination: str = "events.order",
    channel: Channel = "kafka",
    not_before: datetime | None = None,
) -> None:
    """One transaction; `k1/e1` has the key k1."""
    async with database.transaction() as tx:
        for name in names:
            key = name.split("/")[0]
            append(OutboxMessage(channel, destination, key, uuid4(), name.encode(), not_before=not_before), tx)


async def publish_and_fail(database: Database) -> None:
    async with database.transaction() as tx:
        append(OutboxMessage("kafka", "events.order", "k", uuid4(), b"never"), tx)
        raise ZeroDivisionError


@contextlib.asynccontextmanager
async def relaying(
    database: Database, sink: ScriptedSink, channel: Channel = "kafka", **settings: float
) -> AsyncIterator[Relay]:
    relay = Relay(database, channel=channel, sink=sink, **settings)  # type: ignore[arg-type]
    stop = asyncio.Event()
    task = asyncio.create_task(relay.run(stop))
    try:
        yield relay
    finally:
        stop.set()
        async with asyncio.timeout(10):
            await task


async def pending(owner: Owner) -> int:
    count: int = await owner.fetchval("SELECT count(*) FROM outbox WHERE sent_at IS NULL AND parked_at IS NULL")
    return count


async def all_sent(owner: Owner, within: float = 15.0) -> None:
    await eventually(lambda: pending(owner), until=lambda n: n == 0, within=within, what="all rows are sent")


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
        host=database.address.host,
        port=database.address.port,
        database=database.address.name,
        user=database.address.user,
        password=database.address.password,
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
        return Delivered(frozenset(row.position for row in rows if text(row) != "k1/e1"))

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
        assert await owner.fetchval("SELECT tries FROM outbox") == 0


async def test_a_sink_that_gets_nothing_done_is_not_asked_in_a_spin(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = lambda _rows: Delivered(frozenset())
    await publish(database, *(f"k{n}/e1" for n in range(100)))
    started = time.monotonic()
    async with relaying(database, sink, poll_seconds=0.5):
        await eventually(lambda: len(sink.batches), until=lambda n: n >= 4, what="it is asked again")
    assert time.monotonic() - started > 1.0
    assert await pending(owner) == 100


async def test_many_suspects_do_not_wait_for_each_other(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = lambda rows: (
        Delivered(frozenset(), {row.position: "in company" for row in rows}) if len(rows) > 1 else acknowledge(rows)
    )
    await publish(database, *(f"k{n}/e1" for n in range(120)))
    async with relaying(database, sink):
        await all_sent(owner, within=20)


async def test_an_outage_parks_nothing_burns_no_try_and_holds_no_transaction(
    database: Database, owner: Owner, root: Owner
) -> None:
    sink = ScriptedSink()
    away = True

    def outage(rows: Sequence[OutboxRow]) -> Delivered:
        if away:
            raise SinkUnavailable("broker away", acknowledged=[rows[0].position])
        return acknowledge(rows)

    sink.answer, sink.is_away = outage, True
    await publish(database, *(f"k{n}/e1" for n in range(5)))
    async with relaying(database, sink, poll_seconds=0.05):
        await eventually(lambda: sink.probes, until=lambda n: n >= 4, what="the broker is asked again and again")
        assert len(sink.batches) == 1, "while the broker does not answer, no pass begins"
        assert await pending(owner) == 4, "what got through before the outage is marked"
        assert await owner.fetchval("SELECT max(tries) FROM outbox") == 0
        idle_in_transaction = await root.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%relay%' AND datname = "
            "current_database() AND xact_start IS NOT NULL"
        )
        assert idle_in_transaction == 0
        away = sink.is_away = False
        await all_sent(owner)
    assert sorted(sink.taken) == [f"k{n}/e1" for n in range(5)]


async def test_one_absent_destination_does_not_stop_the_others(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sends: list[float] = []

    def one_away(rows: Sequence[OutboxRow]) -> Delivered:
        here = [row for row in rows if row.destination != "events.absent"]
        if len(here) < len(rows):
            sends.append(time.monotonic())
            raise SinkUnavailable("unknown topic", [row.position for row in here], ["events.absent"])
        return acknowledge(rows)

    sink.answer = one_away
    await publish(database, "k1/lost", destination="events.absent")
    async with relaying(database, sink, poll_seconds=0.05):
        for n in range(20):
            await publish(database, f"k{n}/here")
            await eventually(lambda: pending(owner), until=lambda left: left == 1, what="the others are sent")
        await eventually(lambda: len(sends), until=lambda n: n >= 2, what="the absent one is tried again")
        assert await owner.fetchval("SELECT tries FROM outbox WHERE destination = 'events.absent'") == 0
    pauses = [later - earlier for earlier, later in itertools.pairwise(sends)]
    assert min(pauses) > 0.2, "it is not tried in a spin"


async def test_a_record_refused_alone_is_parked_and_holds_only_its_key(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()

    def refuse(rows: Sequence[OutboxRow]) -> Delivered:
        # As a broker does: one bad record fails the batch that it travels in.
        if any(text(row) == "k1/bad" for row in rows):
            return Delivered(frozenset(), {row.position: "MSG_SIZE_TOO_LARGE" for row in rows})
        return acknowledge(rows)

    sink.answer = refuse
    await publish(database, "k1/e1", "k1/bad", "k1/e3", "k2/e1")
    async with relaying(database, sink, poll_seconds=0.05):
        parked = "SELECT count(*) FROM outbox WHERE parked_at IS NOT NULL"
        await eventually(lambda: owner.fetchval(parked), until=lambda n: n == 1, what="the bad record is parked")
        await publish(database, "k1/e4", "k2/e2")
        await eventually(lambda: sink.taken, until=lambda taken: "k2/e2" in taken, what="another key flows")
        assert sorted(sink.taken) == ["k1/e1", "k2/e1", "k2/e2"], "its own key waits"
        tries = await owner.fetch("SELECT convert_from(payload, 'UTF8') AS name, tries FROM outbox ORDER BY position")
        assert {row["name"]: row["tries"] for row in tries} == {
            "k1/e1": 0,
            "k1/bad": 3,
            "k1/e3": 0,
            "k2/e1": 0,
            "k1/e4": 0,
            "k2/e2": 0,
        }, "the neighbours burnt no try"
    alone = [batch for batch in sink.batches if "k1/bad" in batch and len(batch) == 1]
    assert len(alone) == 3


async def test_a_suspect_that_gets_through_alone_is_sent_before_its_followers(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    sink.answer = lambda rows: (
        Delivered(frozenset(), {row.position: "refused in company" for row in rows})
        if len(rows) > 1 and any(text(row).endswith("e1") for row in rows)
        else acknowledge(rows)
    )
    await publish(database, "k1/e1", "k1/e2", "k2/e1", "k2/e2")
    async with relaying(database, sink, poll_seconds=0.05):
        await all_sent(owner)
    for key in ("k1", "k2"):
        assert [name for name in sink.taken if name.startswith(key)] == [f"{key}/e1", f"{key}/e2"]
    assert await owner.fetchval("SELECT max(tries) FROM outbox") == 0


async def test_a_deferred_row_goes_when_it_is_due_and_nothing_waits_for_it(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    async with relaying(database, sink):
        await publish(database, "k/late", not_before=datetime.now(UTC) + timedelta(seconds=1.5))
        await publish(database, "k/now")
        await eventually(lambda: sink.taken, until=lambda taken: taken == ["k/now"], what="what is due goes at once")
        before = time.monotonic()
        await eventually(lambda: sink.taken, until=lambda taken: len(taken) == 2, what="the deferred row goes too")
        assert time.monotonic() - before < 2.5


async def test_channels_do_not_wait_for_each_other(database: Database, owner: Owner) -> None:
    kafka, celery = ScriptedSink(), ScriptedSink()

    def away(_rows: Sequence[OutboxRow]) -> Delivered:
        raise SinkUnavailable("redis away")

    celery.answer, celery.is_away = away, True
    async with relaying(database, kafka), relaying(database, celery, channel="celery"):
        await publish(database, "job", channel="celery", destination="order.jobs")
        await publish(database, "k/e1")
        await eventually(lambda: kafka.taken, until=lambda taken: taken == ["k/e1"], what="the event is sent")
    assert await pending(owner) == 1


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


async def test_a_relay_that_was_stopped_loses_its_shards_and_cannot_mark(
    database: Database, owner: Owner, root: Owner
) -> None:
    """Its transaction is ended by the server; what it had in hand is sent again by the next one, in order."""
    healthy = ScriptedSink()
    release = asyncio.Event()

    class StuckSink(ScriptedSink):
        async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
            self.batches.append([text(row) for row in rows])
            await release.wait()
            return acknowledge(rows)

    stuck = StuckSink()
    await publish(database, "k/e1", "k/e2")
    async with relaying(database, stuck, poll_seconds=60):
        await eventually(lambda: stuck.batches, what="the first relay has the rows in hand")
        ended = await root.fetchval(  # what its idle limit does after some seconds
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%relay%' "
            "AND state = 'idle in transaction' AND datname = current_database()"
        )
        assert ended
        async with relaying(database, healthy, poll_seconds=0.05):
            await all_sent(owner)
            sent_at = await owner.fetchval("SELECT max(sent_at) FROM outbox")
            release.set()
        assert healthy.taken == ["k/e1", "k/e2"]
        assert await owner.fetchval("SELECT max(sent_at) FROM outbox") == sent_at


async def test_a_sink_that_never_answers_ends_its_relay(
    database: Database, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Mute(ScriptedSink):
        async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr("service_platform.outbox.relay_pass._OVERDUE_SECONDS", 0.2 - DELIVERY_DEADLINE)
    await publish(database, "k/e1")
    with pytest.raises(SinkOverran):
        await Relay(database, channel="kafka", sink=Mute()).run(asyncio.Event())
    assert await pending(owner) == 1


async def test_the_server_ends_what_a_delivery_cannot_reach(database: Database) -> None:
    async with open_connection(database, "relay kafka") as connection:
        idle, whole = [
            float((await connection.fetchval(f"SHOW {name}")).removesuffix("s"))
            for name in ("idle_in_transaction_session_timeout", "transaction_timeout")
        ]
    assert DELIVERY_DEADLINE + 1 < idle < whole < 15, "a delivery ends before the server ends it, and soon"


async def test_a_lost_database_is_come_back_to(database: Database, owner: Owner, root: Owner) -> None:
    sink = ScriptedSink()
    async with relaying(database, sink, poll_seconds=0.1) as relay:
        await eventually(lambda: relay.ready, what="the relay is connected")
        await root.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name LIKE '%relay%' AND datname = current_database()"
        )
        await publish(database, "k/e1")
        await all_sent(owner)


async def test_a_commit_wakes_the_relay_without_waiting_for_its_poll(database: Database, owner: Owner) -> None:
    sink = ScriptedSink()
    stop = asyncio.Event()
    wake_up = asyncio.create_task(WakeUp(database).run(stop))
    async with relaying(database, sink, poll_seconds=60) as relay:
        await eventually(lambda: relay.ready or None, within=5, what="the relay is connected", until=lambda _: True)
        for n in range(20):
            await publish(database, f"k/{n}")
            await eventually(lambda: len(sink.taken), until=lambda taken, n=n: taken == n + 1, within=5, what="a hint")
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
