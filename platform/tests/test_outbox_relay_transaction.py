"""The transaction of a relay's pass: all of it or nothing, whatever travels with its COMMIT."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest
from outbox_lab import Owner, ScriptedSink, pending, publish, shards_held

from service_platform.database import Database
from service_platform.outbox.connection import open_connection, transaction
from service_platform.outbox.relay_pass import RelayPass
from world.waiting import eventually


def mark(position: int) -> str:
    return f"SELECT outbox_mark_sent(ARRAY[{position}::bigint])"


async def mark_then_commit_with(connection: asyncpg.Connection[asyncpg.Record], *statements: str) -> None:
    async with transaction(connection) as at_commit:
        await connection.execute(mark(1))
        at_commit.extend(statements)


async def take_mark_and_fail(connection: asyncpg.Connection[asyncpg.Record], owner: Owner) -> None:
    async with transaction(connection) as at_commit:
        await connection.execute("SELECT outbox_take('kafka', 1, 1, '{}')")
        await connection.execute(mark(1))
        at_commit.append(mark(2))
        assert await shards_held(owner) == 1
        raise ZeroDivisionError


async def test_what_travels_with_the_commit_is_committed_with_the_rest(database: Database, owner: Owner) -> None:
    await publish(database, "k/e1", "k/e2", "k/e3")
    async with open_connection(database, "relay kafka") as connection:
        await mark_then_commit_with(connection, mark(2), mark(3))
        assert await pending(owner) == 0
        assert not connection.is_in_transaction()


async def test_what_travels_with_the_commit_and_fails_takes_all_back(database: Database, owner: Owner) -> None:
    await publish(database, "k/e1", "k/e2")
    async with open_connection(database, "relay kafka") as connection:
        with pytest.raises(asyncpg.DivisionByZeroError):
            await mark_then_commit_with(connection, mark(2), "SELECT 1 / 0")
        assert await pending(owner) == 2
        assert not connection.is_in_transaction()


async def test_an_error_takes_all_back_and_lets_go_of_the_shards(database: Database, owner: Owner) -> None:
    await publish(database, "k/e1", "k/e2")
    async with open_connection(database, "relay kafka") as connection:
        with pytest.raises(ZeroDivisionError):
            await take_mark_and_fail(connection, owner)
        assert await pending(owner) == 2
        assert await shards_held(owner) == 0


async def test_who_is_cancelled_while_the_mark_waits_takes_all_back(database: Database, owner: Owner) -> None:
    await publish(database, "k/e1", "k/e2")
    waiting = (
        "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
        "WHERE NOT granted AND datname = current_database()"
    )
    async with open_connection(database, "relay kafka") as connection:
        async with owner.transaction():
            await owner.execute("SELECT FROM outbox_queue WHERE position = 2 FOR UPDATE")
            marking = asyncio.create_task(mark_then_commit_with(connection, mark(2)))
            await eventually(lambda: owner.fetchval(waiting), what="the second mark waits for the row")
            marking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await marking
        assert not connection.is_in_transaction()
        assert await pending(owner) == 2


async def test_only_the_commit_of_a_large_batch_waits_for_the_disk(database: Database, owner: Owner) -> None:
    await owner.execute(
        """
        CREATE TABLE marked (setting text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            INSERT INTO public.marked VALUES (current_setting('synchronous_commit'));
            RETURN NULL;
        END $$;
        CREATE TRIGGER note AFTER DELETE ON outbox_queue FOR EACH STATEMENT EXECUTE FUNCTION note();
        """
    )
    async with open_connection(database, "relay kafka") as connection:
        passes = RelayPass(connection, "kafka", ScriptedSink(), 10_000)
        for rows in (1, 400, 1):
            await publish(database, *(f"k/e{n}" for n in range(rows)))
            assert (await passes.batch([])).sent == rows
    assert [row["setting"] for row in await owner.fetch("SELECT setting FROM marked")] == ["off", "on", "off"]
