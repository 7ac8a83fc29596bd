"""Numbers over the turn of the year, on a real database whose clock is moved."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, TypeAlias
from uuid import uuid4

import asyncpg
import pytest
from billing_lab import all_invoices, issued, record_placed, record_settled
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from billing_service.bootstrap import invoice_service
from service_platform.database import Database

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@pytest.fixture
async def moved_clock(service_databases: Any) -> AsyncIterator[tuple[Database, Connection]]:
    """A database, and its owner's connection, which may set its clock."""
    async with service_databases.migrated("billing") as made, made.opened() as database:
        owner = await asyncpg.connect(
            **made.owner.driver_arguments(),
        )
        yield database, owner
        await owner.close()


async def show(owner: Connection, at: datetime, rate: float = 0) -> None:
    """Let the platform's clock show `at` from now on; at rate 0 it stands still."""
    await owner.execute("SELECT platform_clock_set($1::timestamptz - clock_timestamp(), $2)", at, rate)


async def test_each_year_counts_from_one(moved_clock: tuple[Database, Connection]) -> None:
    database, owner = moved_clock
    await show(owner, datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC))
    old = [await issued(database) for _ in range(2)]
    await show(owner, datetime(2027, 1, 1, 0, 0, 1, tzinfo=UTC))
    new = await issued(database)
    assert [invoice.number for invoice in (*old, new)] == ["INV-2026-000001", "INV-2026-000002", "INV-2027-000001"]
    assert [invoice.issued_at.year for invoice in (*old, new)] == [2026, 2026, 2027]


async def test_an_issue_that_waits_over_the_turn_of_the_year_gets_the_new_year_and_its_date(
    moved_clock: tuple[Database, Connection],
) -> None:
    database, owner = moved_clock
    await show(owner, datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC))
    await issued(database)
    order = uuid4()
    service = invoice_service(database)
    await service.record_placed_order(record_placed(order))
    async with owner.transaction():
        await owner.execute("UPDATE number_series SET last_number = last_number")  # another issue, not yet committed
        waiting = asyncio.ensure_future(service.record_settled_payment(record_settled(order)))
        await _until_someone_waits(owner)
        await show(owner, datetime(2027, 1, 1, 0, 0, 1, tzinfo=UTC))
    await waiting
    invoice = next(found for found in await all_invoices(database) if found.order_id == order)
    assert (invoice.number, invoice.issued_at.year) == ("INV-2027-000001", 2027)


async def test_a_clock_that_is_set_back_doubles_no_number(moved_clock: tuple[Database, Connection]) -> None:
    database, owner = moved_clock
    await show(owner, datetime(2027, 1, 1, 0, 0, 1, tzinfo=UTC))
    first = await issued(database)
    await show(owner, datetime(2026, 12, 31, 23, 0, tzinfo=UTC))
    second = await issued(database)
    assert [first.number, second.number] == ["INV-2027-000001", "INV-2027-000002"]
    assert second.issued_at >= first.issued_at


async def test_a_number_above_six_digits_is_written_out(moved_clock: tuple[Database, Connection]) -> None:
    database, owner = moved_clock
    await show(owner, datetime(2026, 6, 1, tzinfo=UTC))
    await issued(database)
    await owner.execute("UPDATE number_series SET last_number = 999999")
    assert (await issued(database)).number == "INV-2026-1000000"


_WAITING = """
    SELECT count(*) FROM pg_locks AS wanted
    WHERE NOT wanted.granted AND EXISTS (
        SELECT FROM pg_locks AS held
        JOIN pg_database ON pg_database.oid = held.database
        WHERE held.pid = wanted.pid AND datname = current_database()
    )
"""


async def _until_someone_waits(owner: Connection) -> None:
    """Until a transaction of this database waits for a lock."""
    async for attempt in AsyncRetrying(wait=wait_fixed(0.05), stop=stop_after_delay(4), reraise=True):
        with attempt:
            assert await owner.fetchval(_WAITING) > 0, "the issue did not wait for the number that is being drawn"
