"""A connection is lent again and again, and to nobody once it may not be what it seems."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import asyncpg
import pytest
from database_lab import WRITE, Owner, backend, written
from sqlalchemy import text

from service_platform.database import DATABASE_LOST, Database, DatabaseAddress, PoolExhausted, is_transient


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


async def test_a_connection_that_its_server_has_ended_is_replaced(one: Database, root: Owner, owner: Owner) -> None:
    first = await backend(one)
    await root.execute("SELECT pg_terminate_backend($1, 5000)", first)
    with contextlib.suppress(*DATABASE_LOST):  # an end that was not noticed yet may cost one transaction
        await backend(one)
    second = await backend(one)
    assert second != first

    async def lose_it() -> None:
        async with one.transaction() as tx:
            await tx.session.execute(text(WRITE))
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
