"""The clock of all platform SQL: tests shift it and change its rate, and nobody else can."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from ticks_lab import Owner

from service_platform.database import Database
from service_platform.database.schema import TEST_ROLE
from world.waiting import eventually

WAYS = [
    "SELECT platform_clock_set('1 hour', 1)",
    "INSERT INTO platform_clock (real_at, shown_at, rate) VALUES (now(), now() + '1 hour', 1)",
    "UPDATE platform_clock SET rate = 0",
    "DELETE FROM platform_clock",
    "TRUNCATE platform_clock",
]


@contextlib.asynccontextmanager
async def no_tester(root: Owner) -> AsyncIterator[None]:
    """Within the block the owner is what it is in a deployment: no member of the tests' role."""
    await root.execute(f"REVOKE {TEST_ROLE} FROM platform_owner")
    try:
        yield
    finally:
        await root.execute(f"GRANT {TEST_ROLE} TO platform_owner")


async def ahead(owner: Owner) -> timedelta:
    found: timedelta = await owner.fetchval("SELECT platform_now() - clock_timestamp()")
    return found


@pytest.mark.parametrize("way", WAYS)
async def test_neither_the_app_nor_the_owner_can_set_the_clock(
    way: str, database: Database, owner: Owner, root: Owner
) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        async with database.transaction() as tx:
            await tx.session.execute(text(way))
    async with no_tester(root):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="platform_owner may not set the clock"):
            await owner.execute(way)
    assert abs(await ahead(owner)) < timedelta(seconds=1)
    assert await owner.fetchval("SELECT platform_clock_rate()") == 1


async def test_where_the_tests_role_does_not_exist_nobody_is_a_member_of_it(owner: Owner, root: Owner) -> None:
    await root.execute(f"ALTER ROLE {TEST_ROLE} RENAME TO away")
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="may not set the clock"):
            await root.execute(WAYS[0])
    finally:
        await root.execute(f"ALTER ROLE away RENAME TO {TEST_ROLE}")


async def test_a_test_sets_how_far_ahead_the_clock_is_and_how_fast_it_goes(owner: Owner, database: Database) -> None:
    await owner.execute("SELECT platform_clock_set('-2 days', 60)")
    first, real = await owner.fetchval("SELECT platform_now()"), datetime.now(UTC)
    assert abs(first - (real - timedelta(days=2))) < timedelta(minutes=10)

    later = await eventually(
        lambda: owner.fetchval("SELECT platform_now()"),
        until=lambda now: now - first > timedelta(minutes=1),
        what="a minute of that clock has passed",
    )
    passed = (datetime.now(UTC) - real).total_seconds()
    assert (later - first).total_seconds() == pytest.approx(60 * passed, abs=30)
    async with database.read() as session:
        assert (await session.execute(text("SELECT platform_clock_rate()"))).scalar_one() == 60
