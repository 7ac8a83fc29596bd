"""What a transaction leaves, whatever becomes of its block, its connection and its server."""

from __future__ import annotations

import asyncio
import contextlib

import asyncpg
import pytest
from database_lab import WRITE, Owner, written
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import (
    Database,
    Transaction,
    TransactionLost,
)
from world.waiting import eventually

_SLEEP = "SELECT pg_sleep(120)"


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
            await (await tx.driver()).execute(WRITE)
            with contextlib.suppress(asyncpg.PostgresError, DBAPIError):
                if over == "driver":
                    await (await tx.driver()).execute(WRITE)
                else:
                    await tx.session.execute(text(WRITE))

    with pytest.raises(TransactionLost):
        await swallow()
    assert [tx.committed for tx in seen] == [False]
    assert await written(owner) == 0


async def test_a_session_that_rolls_back_is_no_commit(one: Database, owner: Owner) -> None:
    async def roll_back() -> None:
        async with one.transaction() as tx:
            await tx.session.execute(text(WRITE))
            await tx.session.rollback()

    with pytest.raises(TransactionLost):
        await roll_back()
    assert await written(owner) == 0


async def test_a_session_cannot_commit(one: Database, owner: Owner) -> None:
    async def commit_and_fail() -> None:
        async with one.transaction() as tx:
            await tx.session.execute(text(WRITE))
            await tx.session.commit()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await commit_and_fail()
    assert await written(owner) == 0


async def test_what_fails_in_a_savepoint_leaves_the_rest(one: Database, owner: Owner) -> None:
    async def write_twice(session: AsyncSession) -> None:
        async with session.begin_nested():
            await session.execute(text("INSERT INTO thing VALUES ('never')"))
            await session.execute(text(WRITE))

    async with one.transaction() as tx:
        await tx.session.execute(text(WRITE))
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
            await session.execute(text(WRITE))
    assert await written(owner) == 0


async def test_a_read_sees_one_snapshot_and_cannot_write(one: Database, owner: Owner) -> None:
    async with one.read() as session:
        assert (await session.execute(text("SELECT count(*) FROM thing"))).scalar_one() == 0
        await owner.execute(WRITE)
        assert (await session.execute(text("SELECT count(*) FROM thing"))).scalar_one() == 0
    with pytest.raises(DBAPIError, match="read-only"):
        async with one.read() as session:
            await session.execute(text("INSERT INTO thing VALUES ('read')"))
    async with one.transaction() as tx:
        await tx.session.execute(text("INSERT INTO thing VALUES ('after')"))
    assert await written(owner) == 2


async def test_a_cancelled_transaction_is_rolled_back_at_once(one: Database, owner: Owner) -> None:
    waiting = asyncio.Event()

    async def held_up() -> None:
        async with one.transaction() as tx:
            driver = await tx.driver()
            await driver.execute(WRITE)
            waiting.set()
            await driver.execute(_SLEEP)

    task = asyncio.create_task(held_up())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(20):  # the statement would go on six times as long
        await owner.execute(WRITE)  # it would wait for the other's row
        async with one.transaction() as tx:
            await (await tx.driver()).execute("INSERT INTO thing VALUES ('next')")
    assert await written(owner) == 2


async def test_a_process_that_is_gone_in_mid_statement_holds_no_lock(one: Database, root: Owner, owner: Owner) -> None:
    async def vanish() -> None:
        async with one.transaction() as tx:
            driver = await tx.driver()
            await driver.execute(WRITE)
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
        await owner.execute(WRITE)
