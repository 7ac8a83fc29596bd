"""The tables of the inbox: who may write them, which snapshot decides, and what a purge takes."""

from __future__ import annotations

from uuid import UUID

import asyncpg
import pytest
from ledger_lab import SERVICE, Deliveries, Owner, incoming
from sqlalchemy import text

from service_platform.database import Database
from service_platform.inbox import DeadLetterOffice


async def test_the_purge_takes_what_is_old_and_never_what_still_waits(owner: Owner, shop: Deliveries) -> None:
    await shop.run(incoming())
    dead, settled, waiting = incoming(key="dead"), incoming(key="settled"), incoming(key="waiting")
    for event in (dead, settled, waiting):
        await shop.fail(event, allowed=1)
    async with shop.database.transaction() as tx:
        letter = await owner.fetchval("SELECT id FROM dead_letter WHERE key = 'waiting'")
        await DeadLetterOffice(SERVICE).requeue(tx, letter)
    await owner.execute("UPDATE dead_letter SET state = 'discarded', resolved_at = now() WHERE key = 'settled'")

    async def purge(days: int) -> int:
        count: int = await owner.fetchval("SELECT inbox_purge(make_interval(days => $1), 100)", days)
        return count

    await owner.execute("SELECT platform_clock_set('10 days', 1)")
    assert await purge(11) == 0
    await shop.run(recent := incoming())
    assert await purge(9) == 2
    assert [row["key"] for row in await owner.fetch("SELECT key FROM dead_letter ORDER BY key")] == ["dead", "waiting"]
    assert await owner.fetchval("SELECT count(*) FROM retry_ledger WHERE event_id = $1", waiting.event_id) == 1
    kept: list[UUID] = [row["event_id"] for row in await owner.fetch("SELECT event_id FROM inbox")]
    assert kept == [recent.event_id]


@pytest.mark.parametrize("table", ["inbox", "retry_ledger", "dead_letter"])
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET consumer = 'x'"])
async def test_the_app_role_cannot_write_past_the_functions(database: Database, table: str, statement: str) -> None:
    async with database.autocommit() as driver:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await driver.execute(statement.format(table))


async def test_decisions_see_what_was_committed_whatever_the_servers_default_isolation_is(
    database: Database, owner: Owner
) -> None:
    await owner.execute(f"ALTER DATABASE {database.address.name} SET default_transaction_isolation = 'serializable'")
    async with database.transaction() as tx:
        assert await tx.session.scalar(text("SHOW transaction_isolation")) == "read committed"
