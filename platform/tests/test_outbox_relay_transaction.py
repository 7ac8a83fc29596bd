"""The transaction of a relay's pass: all of it or nothing, whatever travels with its COMMIT."""

from __future__ import annotations

import asyncpg
import pytest
from outbox_lab import Owner, pending, publish, shards_held

from service_platform.database import Database
from service_platform.outbox.connection import open_connection, transaction
from world.waiting import eventually


def mark(position: int) -> str:
    return f"SELECT outbox_mark_sent(ARRAY[{position}::bigint])"


async def mark_then_commit_with(connection: asyncpg.Connection[asyncpg.Record], *statements: str) -> None:
    async with transaction(connection) as at_commit:
        await connection.execute(mark(1))
        at_commit.extend(statements)


async def take_and_fail(connection: asyncpg.Connection[asyncpg.Record], owner: Owner) -> None:
    async with transaction(connection) as at_commit:
        await connection.execute("SELECT outbox_take('kafka', 1, 1, '{}')")
        at_commit.append(mark(1))
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


async def test_an_error_closes_the_connection_and_the_server_takes_all_back(database: Database, owner: Owner) -> None:
    await publish(database, "k/e1")
    async with open_connection(database, "relay kafka") as connection:
        with pytest.raises(ZeroDivisionError):
            await take_and_fail(connection, owner)
        assert connection.is_closed()
        await eventually(lambda: shards_held(owner), until=lambda n: n == 0, what="the server has let go of its shard")
    assert await pending(owner) == 1
