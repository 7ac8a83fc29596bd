"""Actions that look elsewhere before they decide: outside of any transaction, and audited like all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from ops_lab import make_table, make_thing
from ops_things import CLOSE_THING, CloseThing, Thing, ThingClosed
from structlog.testing import capture_logs

from service_platform.database import Database, ExternalCallInTransaction, forbid_in_transaction
from service_platform.ops import ActionContext, ActionRunner, Operator

Owner = asyncpg.Connection

JANE = Operator("jane", "function")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with capture_logs():
        yield


async def audited(owner: Owner) -> list[tuple[str, str]]:
    rows = await owner.fetch("SELECT action, outcome FROM operator_audit ORDER BY at, id")
    return [tuple(row) for row in rows]


async def test_it_looks_before_its_transaction_and_decides_by_what_it_saw(database: Database, owner: Owner) -> None:
    await make_table(owner)
    thing = await make_thing(owner)
    looks: list[tuple[UUID, Any]] = []

    async def look(given: CloseThing, outside: Any) -> str:
        forbid_in_transaction("the ledger")
        looks.append((given.id, outside))
        return "seen outside"

    async def run(given: CloseThing, context: ActionContext) -> Thing:
        with pytest.raises(ExternalCallInTransaction):
            forbid_in_transaction("the ledger")
        return await CLOSE_THING.run(given.model_copy(update={"reason": context.seen}), context)

    runner = ActionRunner(database, "order", outside="the ledger")
    closed = await runner.run(replace(CLOSE_THING, look=look, run=run), CloseThing(id=thing, reason="broken"), JANE)

    assert looks == [(thing, "the ledger")]
    assert closed.reason == "seen outside"
    assert await audited(owner) == [("things close", "done")]


async def test_what_its_look_refuses_changes_nothing_and_is_audited(database: Database, owner: Owner) -> None:
    await make_table(owner)
    thing = await make_thing(owner)

    async def look(_given: CloseThing, _outside: Any) -> None:
        raise ThingClosed(reason="the ledger says so")

    with pytest.raises(ThingClosed):
        await ActionRunner(database, "order").run(
            replace(CLOSE_THING, look=look), CloseThing(id=thing, reason="broken"), JANE
        )

    assert await owner.fetchval("SELECT reason FROM thing") is None
    assert await audited(owner) == [("things close", "refused")]
