"""One action for many: shown before it is done, done one by one, and shared by whoever runs it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import UUID

import asyncpg
import pytest
from ops_lab import command, make_table, make_thing
from ops_things import CLOSE_THING, CLOSE_THINGS, CloseThing, CloseThings
from structlog.testing import capture_logs

from service_platform.database import Database, DatabaseAddress
from service_platform.ops import ActionRunner, Operator
from world.waiting import eventually

Owner = asyncpg.Connection

JANE, ANN = Operator("jane", "http"), Operator("ann", "command")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with capture_logs():
        yield


@pytest.fixture
async def runner(database: Database, owner: Owner) -> ActionRunner:
    await make_table(owner)
    return ActionRunner(database, "order")


async def open_ones(owner: Owner) -> list[UUID]:
    return [row["id"] for row in await owner.fetch("SELECT id FROM thing WHERE reason IS NULL ORDER BY made_at")]


async def test_without_apply_it_only_shows_what_it_would_do_the_oldest_first(
    runner: ActionRunner, owner: Owner
) -> None:
    lamp = await make_thing(owner, "lamp", 3)
    second, first = await make_thing(owner, "kettle", 2), await make_thing(owner, "kettle", 1)
    found = await runner.run(CLOSE_THINGS, CloseThings(name="kettle"), JANE)
    assert not found.applied
    assert not found.more
    assert [(item.row.id, item.fate) for item in found.items] == [(first, "found"), (second, "found")]
    assert await open_ones(owner) == [first, second, lamp]
    assert [tuple(row) for row in await owner.fetch("SELECT action, outcome, detail FROM operator_audit")] == [
        ("things close-all", "done", "2 found")
    ]


async def test_applied_it_does_each_in_a_transaction_with_an_audit_row_of_its_own(
    runner: ActionRunner, owner: Owner
) -> None:
    things = [await make_thing(owner, "kettle", number) for number in range(3)]
    done = await runner.run(CLOSE_THINGS, CloseThings(limit=2, apply=True), JANE)
    assert (done.applied, done.more) == (True, True)
    assert [(item.row.id, item.fate) for item in done.items] == [(things[0], "done"), (things[1], "done")]
    assert await open_ones(owner) == things[2:]
    rows = await owner.fetch("SELECT *, input ->> 'id' AS of FROM operator_audit ORDER BY at")
    assert [(row["action"], row["of"]) for row in rows] == [
        ("things close-all", None),
        ("things close", str(things[0])),
        ("things close", str(things[1])),
    ]
    assert {(row["correlation_id"], row["actor"]) for row in rows} == {(rows[0]["correlation_id"], "jane")}
    assert await owner.fetchval("SELECT count(DISTINCT xmin::text) FROM operator_audit") == 3


async def test_what_another_operator_was_quicker_with_is_refused_and_the_rest_goes_on(
    runner: ActionRunner, owner: Owner
) -> None:
    things = [await make_thing(owner, "kettle", number) for number in range(3)]
    holding = owner.transaction()
    await holding.start()
    await owner.execute("UPDATE thing SET reason = 'mine' WHERE id = $1", things[0])  # found open, closed under way
    closing = asyncio.create_task(runner.run(CLOSE_THINGS, CloseThings(apply=True), JANE))
    waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
    await eventually(lambda: owner.fetchval(waits), what="the bulk action waits for the thing that is being closed")
    await holding.commit()
    done = await closing
    assert [(item.fate, item.reason) for item in done.items] == [
        ("refused", "thing-closed"),
        ("done", None),
        ("done", None),
    ]
    assert await owner.fetchval("SELECT reason FROM thing WHERE id = $1", things[0]) == "mine"


async def test_two_operators_at_once_do_each_thing_once_between_them(runner: ActionRunner, owner: Owner) -> None:
    things = [await make_thing(owner, "kettle", number) for number in range(20)]
    both = await asyncio.gather(*(runner.run(CLOSE_THINGS, CloseThings(apply=True), who) for who in (JANE, ANN)))
    done = [item.row.id for result in both for item in result.items if item.fate == "done"]
    assert sorted(done) == sorted(things)
    assert {item.fate for result in both for item in result.items} <= {"done", "refused"}
    audited = "SELECT count(*) FROM operator_audit WHERE action = 'things close' AND outcome = 'done'"
    assert await owner.fetchval(audited) == 20


async def test_run_again_after_all_was_done_it_finds_nothing(runner: ActionRunner, owner: Owner) -> None:
    await make_thing(owner)
    await runner.run(CLOSE_THINGS, CloseThings(apply=True), JANE)
    again = await runner.run(CLOSE_THINGS, CloseThings(apply=True), JANE)
    assert (again.applied, again.items) == (True, [])


async def test_an_error_ends_it_and_the_result_says_what_was_done_before(runner: ActionRunner, owner: Owner) -> None:
    names = ["kettle", "bomb", "kettle"]
    things = [await make_thing(owner, name, number) for number, name in enumerate(names)]
    done = await runner.run(CLOSE_THINGS, CloseThings(apply=True), JANE)
    assert [item.fate for item in done.items] == ["done", "failed", "not_tried"]
    assert str(done.items[1].reason).startswith("RuntimeError")
    assert await open_ones(owner) == things[1:]
    assert await owner.fetchval("SELECT outcome FROM operator_audit ORDER BY at DESC LIMIT 1") == "failed"


async def test_the_command_shows_first_and_exits_1_when_something_was_not_done(
    runner: ActionRunner, app_address: DatabaseAddress, owner: Owner
) -> None:
    await make_thing(owner, "kettle", 1)
    await make_thing(owner, "bomb", 2)
    shown = await command(app_address, "things", "close-all", "--name", "kettle")
    assert shown.code == 0
    assert "1 found, nothing was changed. To do it, run it again with --apply." in shown.out
    done = await command(app_address, "things", "close-all", "--apply")
    assert done.code == 1
    assert "1 of 2 done." in done.out
    assert "RuntimeError: broke" in done.out
    failed = await command(app_address, "things", "close-all", "--apply", "--json")
    assert failed.code == 1
    assert [(item["fate"], item["reason"]) for item in failed.json["items"]] == [
        ("failed", "RuntimeError: broke � ? at once")
    ]
    del runner


async def test_each_can_be_done_alone_too(runner: ActionRunner, owner: Owner) -> None:
    thing = await make_thing(owner)
    assert CLOSE_THINGS.each is CLOSE_THING
    await runner.run(CLOSE_THING, CloseThing(id=thing, reason="by hand"), JANE)
    assert await open_ones(owner) == []
