"""What a transaction leaves, whatever becomes of its block, its connection and its server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TypeAlias

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import (
    DATABASE_LOST,
    Database,
    DatabaseAddress,
    PoolExhausted,
    Transaction,
    TransactionLost,
    is_transient,
)
from world.waiting import eventually

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

_WRITE = "INSERT INTO thing (name) VALUES ('written')"
_SLEEP = "SELECT pg_sleep(120)"


@pytest.fixture
async def one(database: Database, owner: Owner) -> AsyncIterator[Database]:
    """A database with a table to write to, and one connection: whatever a transaction leaves, the next one meets."""
    await owner.execute("CREATE TABLE IF NOT EXISTS thing (name text UNIQUE)")
    await owner.execute("TRUNCATE thing")
    await owner.execute(f"GRANT SELECT, INSERT ON thing TO {database.address.user}")
    narrow = Database(database.address, application_name="narrow", pool_size=1)
    yield narrow
    await narrow.close()


async def written(owner: Owner) -> int:
    count: int = await owner.fetchval("SELECT count(*) FROM thing")
    return count


async def backend(database: Database) -> int:
    async with database.autocommit() as driver:
        pid: int = await driver.fetchval("SELECT pg_backend_pid()")
    return pid


async def test_driver_and_session_write_in_one_transaction(one: Database, owner: Owner) -> None:
    async def both_and_an_error() -> None:
        async with one.transaction() as tx:
            await tx.session.execute(text("INSERT INTO thing VALUES ('session')"))
            await (await tx.driver()).execute("INSERT INTO thing VALUES ('driver')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await both_and_an_error()
    assert await written(owner) == 0
    async with one.transaction() as tx:
        await (await tx.driver()).execute("INSERT INTO thing VALUES ('driver')")
        await tx.session.execute(text("INSERT INTO thing VALUES ('session')"))
        assert await written(owner) == 0
    assert await written(owner) == 2
    assert tx.committed


@pytest.mark.parametrize("over", ["driver", "session"])
async def test_a_swallowed_database_error_is_no_commit(one: Database, owner: Owner, over: str) -> None:
    seen: list[Transaction] = []

    async def swallow() -> None:
        async with one.transaction() as tx:
            seen.append(tx)
            await (await tx.driver()).execute(_WRITE)
            with contextlib.suppress(asyncpg.PostgresError, DBAPIError):
                if over == "driver":
                    await (await tx.driver()).execute(_WRITE)
                else:
                    await tx.session.execute(text(_WRITE))

    with pytest.raises(TransactionLost):
        await swallow()
    assert [tx.committed for tx in seen] == [False]
    assert await written(owner) == 0


async def test_a_session_that_rolls_back_is_no_commit(one: Database, owner: Owner) -> None:
    async def roll_back() -> None:
        async with one.transaction() as tx:
            await tx.session.execute(text(_WRITE))
            await tx.session.rollback()

    with pytest.raises(TransactionLost):
        await roll_back()
    assert await written(owner) == 0


async def test_a_session_cannot_commit(one: Database, owner: Owner) -> None:
    async def commit_and_fail() -> None:
        async with one.transaction() as tx:
            await tx.session.execute(text(_WRITE))
            await tx.session.commit()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await commit_and_fail()
    assert await written(owner) == 0


async def test_what_fails_in_a_savepoint_leaves_the_rest(one: Database, owner: Owner) -> None:
    async def write_twice(session: AsyncSession) -> None:
        async with session.begin_nested():
            await session.execute(text("INSERT INTO thing VALUES ('never')"))
            await session.execute(text(_WRITE))

    async with one.transaction() as tx:
        await tx.session.execute(text(_WRITE))
        with pytest.raises(DBAPIError):
            await write_twice(tx.session)
    assert await owner.fetch("SELECT name FROM thing") == [("written",)]


async def test_a_session_is_of_no_use_after_its_transaction(one: Database, owner: Owner) -> None:
    async with one.transaction() as tx:
        await tx.session.execute(text("SELECT 1"))
    async with one.read() as reading:
        await reading.execute(text("SELECT 1"))
    for session in (tx.session, reading):
        with pytest.raises(InvalidRequestError):
            await session.execute(text(_WRITE))
    assert await written(owner) == 0


async def test_a_read_sees_one_snapshot_and_cannot_write(one: Database, owner: Owner) -> None:
    async with one.read() as session:
        assert (await session.execute(text("SELECT count(*) FROM thing"))).scalar_one() == 0
        await owner.execute(_WRITE)
        assert (await session.execute(text("SELECT count(*) FROM thing"))).scalar_one() == 0
    with pytest.raises(DBAPIError, match="read-only"):
        async with one.read() as session:
            await session.execute(text("INSERT INTO thing VALUES ('read')"))
    async with one.transaction() as tx:
        await tx.session.execute(text("INSERT INTO thing VALUES ('after')"))
    assert await written(owner) == 2


async def test_a_connection_is_used_again(one: Database) -> None:
    first = await backend(one)
    async with one.transaction() as tx:
        await tx.session.execute(text("SELECT 1"))
    with contextlib.suppress(ZeroDivisionError):
        async with one.transaction() as tx:
            await (await tx.driver()).execute("SELECT 1")
            raise ZeroDivisionError
    async with one.read() as session:
        assert (await session.execute(text("SELECT pg_backend_pid()"))).scalar_one() == first
    assert await backend(one) == first


async def test_a_cancelled_transaction_is_rolled_back_at_once(one: Database, owner: Owner) -> None:
    waiting = asyncio.Event()

    async def held_up() -> None:
        async with one.transaction() as tx:
            driver = await tx.driver()
            await driver.execute(_WRITE)
            waiting.set()
            await driver.execute(_SLEEP)

    task = asyncio.create_task(held_up())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(20):  # the statement would go on six times as long
        await owner.execute(_WRITE)  # it would wait for the other's row
        async with one.transaction() as tx:
            await (await tx.driver()).execute("INSERT INTO thing VALUES ('next')")
    assert await written(owner) == 2


async def test_a_process_that_is_gone_in_mid_statement_holds_no_lock(one: Database, root: Owner, owner: Owner) -> None:
    async def vanish() -> None:
        async with one.transaction() as tx:
            driver = await tx.driver()
            await driver.execute(_WRITE)
            async with asyncio.TaskGroup() as both:
                both.create_task(driver.execute(_SLEEP))
                await eventually(
                    lambda: root.fetchval("SELECT count(*) FROM pg_stat_activity WHERE query = $1", _SLEEP),
                    what="the server is at it",
                )
                driver._transport.abort()  # what a kill -9 leaves: a closed socket, and no cancel

    with pytest.raises(ExceptionGroup):
        await vanish()
    async with asyncio.timeout(20):
        await owner.execute(_WRITE)


async def test_a_connection_that_its_server_has_ended_is_replaced(one: Database, root: Owner, owner: Owner) -> None:
    first = await backend(one)
    await root.execute("SELECT pg_terminate_backend($1, 5000)", first)
    with contextlib.suppress(*DATABASE_LOST):  # an end that was not noticed yet may cost one transaction
        await backend(one)
    second = await backend(one)
    assert second != first

    async def lose_it() -> None:
        async with one.transaction() as tx:
            await tx.session.execute(text(_WRITE))
            await root.execute("SELECT pg_terminate_backend($1, 5000)", second)
            await tx.session.execute(text("INSERT INTO thing VALUES ('too late')"))

    with pytest.raises(DATABASE_LOST) as lost:
        await lose_it()
    assert is_transient(lost.value)
    assert await backend(one) != second
    assert await written(owner) == 0


async def test_whoever_waits_too_long_for_a_connection_is_told_so(database: Database) -> None:
    narrow = Database(database.address, application_name="narrow", pool_size=1)
    narrow._pool._wait_seconds = 0.1
    async with narrow.transaction():

        async def second() -> None:
            async with narrow.autocommit():
                pass

        with pytest.raises(PoolExhausted) as exhausted:
            await asyncio.create_task(second())
    assert is_transient(exhausted.value)
    await narrow.close()


async def test_more_transactions_than_connections_take_turns(one: Database) -> None:
    async def some() -> int:
        async with one.transaction() as tx:
            return int((await tx.session.execute(text("SELECT pg_backend_pid()"))).scalar_one())

    assert len(set(await asyncio.gather(*(asyncio.create_task(some()) for _ in range(20))))) == 1


async def test_a_server_that_is_not_there_costs_no_connection(app_address: DatabaseAddress) -> None:
    away = Database(replace(app_address, port=1), application_name="away", pool_size=1)
    for _ in range(3):
        with pytest.raises(OSError, match="Connect"):
            async with away.transaction():
                pass
    await away.close()


@pytest.mark.parametrize("over", ["driver", "session", "autocommit"])
async def test_wherever_the_server_ends_a_connection_the_next_transaction_has_another_one(
    one: Database, root: Owner, over: str
) -> None:
    """The driver meets the end at a moment that differs, and tells of some of them as an error inside of itself."""

    async def lose_it() -> None:
        if over == "autocommit":
            async with one.autocommit() as driver:
                await root.execute("SELECT pg_terminate_backend($1)", await driver.fetchval("SELECT pg_backend_pid()"))
                await driver.fetchval("SELECT 1")
                await driver.fetchval("SELECT 2")
        async with one.transaction() as tx:
            driver = await tx.driver()
            await root.execute("SELECT pg_terminate_backend($1)", await driver.fetchval("SELECT pg_backend_pid()"))
            if over == "session":
                await tx.session.execute(text("SELECT 1"))
                await tx.session.execute(text("SELECT 2"))
            await driver.fetchval("SELECT 1")
            await driver.fetchval("SELECT 2")

    for _ in range(300):
        with pytest.raises(DATABASE_LOST) as lost:
            await lose_it()
        assert is_transient(lost.value)
        async with one.transaction() as tx:
            assert await (await tx.driver()).fetchval("SELECT 3") == 3


async def test_a_connection_whose_transaction_did_not_end_in_order_is_lent_to_nobody(
    one: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await backend(one)

    async def end_in_disorder() -> None:
        async with one.transaction():
            monkeypatch.setattr(asyncpg.Connection, "is_in_transaction", lambda _: False)  # confused, it looks at rest
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await end_in_disorder()
    assert await backend(one) != first


async def test_a_connection_that_confused_the_driver_outside_of_a_transaction_is_lent_to_nobody(one: Database) -> None:
    first = await backend(one)

    async def confuse() -> None:
        async with one.autocommit():
            raise asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress")

    with pytest.raises(asyncpg.InternalClientError):
        await confuse()
    assert await backend(one) != first
