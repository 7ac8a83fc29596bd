"""Writing to the outbox: with the change or not at all, numbered in commit order, without deadlocks."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TypeAlias
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy import text

from service_platform.database import Database, Transaction, TransactionPart
from service_platform.outbox import (
    MAX_PAYLOAD_BYTES,
    MessageTooLarge,
    NulCharacter,
    OutboxMessage,
    TooManyMessages,
    UnencodableText,
    append,
)
from world.waiting import eventually

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


def message(key: str, payload: bytes = b"{}", destination: str = "events.order") -> OutboxMessage:
    return OutboxMessage("kafka", destination, key, uuid4(), payload, {"event-name": "order.placed"})


async def payloads(owner: Owner) -> list[bytes]:
    return [row["payload"] for row in await owner.fetch("SELECT payload FROM outbox ORDER BY position")]


async def change_and_publish(database: Database, what: OutboxMessage, *, fail: bool = False) -> None:
    async with database.transaction() as tx:
        await tx.session.execute(text("INSERT INTO change VALUES (1)"))
        append(what, tx)
        if fail:
            raise ZeroDivisionError


async def publish_late(database: Database) -> None:
    class Late(TransactionPart):
        async def before_commit(self, tx: Transaction) -> None:
            append(message("k"), tx)

    async with database.transaction() as tx:
        append(message("k"), tx)
        tx.part(Late)


async def waiting_for_advisory_lock(owner: Owner) -> int:
    count: int = await owner.fetchval(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return count


async def test_a_message_exists_exactly_when_its_transaction_commits(database: Database, owner: Owner) -> None:
    await owner.execute("CREATE TABLE change (id int); GRANT ALL ON change TO platform_app")
    with pytest.raises(ZeroDivisionError):
        await change_and_publish(database, message("k", b"rolled back"), fail=True)
    assert await payloads(owner) == []
    async with database.transaction() as tx:
        await tx.session.execute(text("INSERT INTO change VALUES (2)"))
        append(message("k", b"committed"), tx)
        assert await payloads(owner) == []
    assert await payloads(owner) == [b"committed"]
    assert await owner.fetchval("SELECT array_agg(id) FROM change") == [2]


async def test_an_outbox_that_cannot_be_written_takes_the_change_with_it(database: Database, owner: Owner) -> None:
    await owner.execute("CREATE TABLE change (id int); GRANT ALL ON change TO platform_app")
    await owner.execute("ALTER TABLE outbox ADD CHECK (key <> 'refused')")
    with pytest.raises(asyncpg.CheckViolationError):
        await change_and_publish(database, message("refused"))
    assert await owner.fetchval("SELECT count(*) FROM change") == 0


async def test_rows_of_a_key_are_numbered_in_commit_order_not_in_publish_order(
    database: Database, owner: Owner
) -> None:
    first_published, second_committed = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        async with database.transaction() as tx:
            append(message("k", b"T1"), tx)
            first_published.set()
            await second_committed.wait()

    async def second() -> None:
        await first_published.wait()
        async with database.transaction() as tx:
            append(message("k", b"T2"), tx)
        second_committed.set()

    async with asyncio.timeout(10):
        await asyncio.gather(first(), second())
    assert await payloads(owner) == [b"T2", b"T1"]


async def test_a_number_is_taken_only_once_the_key_is_ours(database: Database, owner: Owner) -> None:
    """The holder of the key commits after the waiter has asked, and still comes first."""
    holding, release = asyncio.Event(), asyncio.Event()

    class HoldBeforeCommit(TransactionPart):
        async def before_commit(self, tx: Transaction) -> None:
            holding.set()
            await release.wait()

    async def holder() -> None:
        async with database.transaction() as tx:
            append(message("k", b"holder"), tx)
            tx.part(HoldBeforeCommit)

    async def waiter() -> None:
        await holding.wait()
        async with database.transaction() as tx:
            append(message("k", b"waiter"), tx)

    async with asyncio.timeout(10):
        tasks = [asyncio.create_task(holder()), asyncio.create_task(waiter())]
        await holding.wait()
        await eventually(
            lambda: waiting_for_advisory_lock(owner), until=lambda n: n == 1, what="the second waits for the key"
        )
        async with database.transaction() as tx:
            append(message("other", b"other key"), tx)
        assert await payloads(owner) == [b"other key"], "another key waits for nobody"
        release.set()
        await asyncio.gather(*tasks)
    positions = await owner.fetch("SELECT payload FROM outbox WHERE key = 'k' ORDER BY position")
    assert [row["payload"] for row in positions] == [b"holder", b"waiter"]


async def test_transactions_with_the_same_keys_in_opposite_order_do_not_deadlock(
    database: Database, owner: Owner
) -> None:
    keys = [f"k{n}" for n in range(20)]

    async def publish(order: list[str]) -> None:
        for _ in range(10):
            async with database.transaction() as tx:
                for key in order:
                    append(message(key), tx)

    async with asyncio.timeout(30):
        await asyncio.gather(*(publish(keys if n % 2 else keys[::-1]) for n in range(6)))
    assert await owner.fetchval("SELECT count(*) FROM outbox") == 6 * 10 * 20


async def test_a_transactions_own_messages_keep_the_order_of_the_code(database: Database, owner: Owner) -> None:
    wanted = [f"{n}".encode() for n in range(100)]
    async with database.transaction() as tx:
        for n, payload in enumerate(wanted):
            append(message(f"k{n % 7}", payload), tx)
    assert await payloads(owner) == wanted


async def test_each_message_stands_in_the_queue_as_itself(database: Database, owner: Owner) -> None:
    due = datetime(2100, 1, 1, tzinfo=UTC)
    messages = [
        OutboxMessage("kafka", "events.order", "k1", uuid4(), b"now"),
        OutboxMessage("celery", "order.jobs", "k2", uuid4(), b"a job"),
        OutboxMessage("kafka", "events.order.retry", "k1", uuid4(), b"later", not_before=due),
    ]
    async with database.transaction() as tx:
        for one in messages:
            append(one, tx)
    rows = await owner.fetch(
        "SELECT message_id, q.channel, q.destination, nullif(q.not_before, '-infinity') AS not_before, q.bytes, "
        "q.ordering_key = outbox_ordering_key(o.destination, o.consumer, o.key) AS is_its_key "
        "FROM outbox_queue q JOIN outbox o USING (position) ORDER BY position"
    )
    assert [tuple(row) for row in rows] == [
        (one.message_id, one.channel, one.destination, one.not_before, len(one.payload) + len("{}"), True)
        for one in messages
    ]


async def test_nul_is_refused_wherever_text_stands(database: Database, owner: Owner) -> None:
    bad = [
        OutboxMessage("kafka", "events.order", "k\x00", uuid4(), b"{}"),
        OutboxMessage("kafka", "events.\x00", "k", uuid4(), b"{}"),
        OutboxMessage("kafka", "events.order", "k", uuid4(), b"{}", consumer="\x00"),
        OutboxMessage("kafka", "events.order", "k", uuid4(), b"{}", {"a": "\x00"}),
        OutboxMessage("kafka", "events.order", "k", uuid4(), b"{}", {"\x00": "a"}),
    ]
    async with database.transaction() as tx:
        for refused in bad:
            with pytest.raises(NulCharacter):
                append(refused, tx)
        with pytest.raises(UnencodableText):
            append(message("\ud800"), tx)
    assert await payloads(owner) == []


async def test_what_the_topic_would_not_take_is_refused(database: Database, owner: Owner) -> None:
    async with database.transaction() as tx:
        append(message("k", b"x" * MAX_PAYLOAD_BYTES), tx)
        with pytest.raises(MessageTooLarge):
            append(message("k", b"x" * (MAX_PAYLOAD_BYTES + 1)), tx)
        with pytest.raises(MessageTooLarge):
            append(message("k" * 40_000), tx)
    assert [len(payload) for payload in await payloads(owner)] == [MAX_PAYLOAD_BYTES]


async def test_a_transaction_cannot_take_more_locks_than_the_server_has_room_for(database: Database) -> None:
    async with database.transaction() as tx:
        for n in range(1000):
            append(message(f"k{n}"), tx)
        with pytest.raises(TooManyMessages):
            append(message("one more"), tx)


async def test_a_message_that_comes_after_the_writing_is_an_error_not_a_loss(database: Database) -> None:
    with pytest.raises(RuntimeError, match="before_commit"):
        await publish_late(database)


async def test_the_app_role_cannot_write_past_the_functions(database: Database, owner: Owner) -> None:
    async with database.transaction() as tx:
        append(message("k"), tx)
    for statement in (
        "DELETE FROM outbox",
        "UPDATE outbox SET key = 'x'",
        "DELETE FROM outbox_queue",
        "UPDATE outbox_queue SET parked_at = NULL",
        "INSERT INTO outbox_queue DEFAULT VALUES",
    ):
        async with database.autocommit() as driver:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await driver.execute(statement)
