"""The operators' command of the order service, as a process, on the service's own tables."""

from __future__ import annotations

import sys

from sqlalchemy import text

from service_platform.database import Database
from world.service_process import Ended, run, service_environment


async def ops(database: Database, *words: str) -> Ended:
    """Run `python -m order_service.main.ops` with these words."""
    env = service_environment("order", database.address)
    return await run(sys.executable, "-m", "order_service.main.ops", *words, env=env)


async def test_an_operator_at_a_terminal_lists_dead_letters_and_is_audited(order_database: Database) -> None:
    ended = await ops(order_database, "dead-letters", "list", "--event", "payment.settled", "--actor", "jane", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json == {"items": [], "next_cursor": None}
    async with order_database.read() as session:
        audited = (await session.execute(text("SELECT actor, via, action, outcome FROM operator_audit"))).one()
    assert tuple(audited) == ("jane", "command", "dead-letters list", "done")
