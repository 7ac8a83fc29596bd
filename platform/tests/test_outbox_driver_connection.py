"""The driver connection of a transaction is inside it."""

from __future__ import annotations

import asyncpg
import pytest

from service_platform.database import Database


async def write_and_fail(database: Database) -> None:
    async with database.transaction() as tx:
        driver = await tx.driver()
        await driver.execute("SELECT inbox_claim('c', 's', 'k', gen_random_uuid())")
        raise ZeroDivisionError


async def test_what_the_driver_writes_first_is_rolled_back_with_the_transaction(
    database: Database, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    with pytest.raises(ZeroDivisionError):
        await write_and_fail(database)
    assert await owner.fetchval("SELECT count(*) FROM inbox") == 0
