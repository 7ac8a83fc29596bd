"""What the tests of the database share: a table to write to, and a pool of one connection."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TypeAlias

import asyncpg

from service_platform.database import Database

Owner: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

WRITE = "INSERT INTO thing (name) VALUES ('written')"


@contextlib.asynccontextmanager
async def with_one_connection(database: Database, owner: Owner) -> AsyncIterator[Database]:
    """A database with a table to write to, and one connection: whatever a transaction leaves, the next one meets."""
    await owner.execute("CREATE TABLE IF NOT EXISTS thing (name text UNIQUE)")
    await owner.execute("TRUNCATE thing")
    await owner.execute(f"GRANT SELECT, INSERT ON thing TO {database.address.user}")
    narrow = Database(database.address, application_name="narrow", pool_size=1)
    try:
        yield narrow
    finally:
        await narrow.close()


async def written(owner: Owner) -> int:
    count: int = await owner.fetchval("SELECT count(*) FROM thing")
    return count


async def backend(database: Database) -> int:
    async with database.autocommit() as driver:
        pid: int = await driver.fetchval("SELECT pg_backend_pid()")
    return pid
