"""Each call of an operator action leaves one audit row: with the change, or after what was refused."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from ops_lab import make_table, make_thing
from ops_things import CLOSE_THING, LIST_THINGS, SHOW_THING, SPOIL_THINGS, CloseThing, ListThings, OneThing, ThingClosed
from sqlalchemy.exc import DBAPIError
from structlog.testing import capture_logs

from service_platform.database import Database, DatabaseAddress
from service_platform.ops import ActionInput, ActionRunner, Operator
from service_platform.telemetry import correlation_scope
from world.waiting import eventually

Owner = asyncpg.Connection

JANE = Operator("jane", "command")


@pytest.fixture(autouse=True)
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    """What the runner logs."""
    with capture_logs() as entries:
        yield entries


@pytest.fixture
async def runner(database: Database, owner: Owner) -> ActionRunner:
    await make_table(owner)
    return ActionRunner(database, "order")


async def audited(owner: Owner) -> list[tuple[str, str, str]]:
    rows = await owner.fetch("SELECT action, outcome, detail FROM operator_audit ORDER BY at, id")
    return [(row["action"], row["outcome"], row["detail"]) for row in rows]


async def reason_of(owner: Owner, thing: UUID) -> str | None:
    return await owner.fetchval("SELECT reason FROM thing WHERE id = $1", thing)


async def test_a_change_and_its_audit_row_say_who_did_what_to_which_thing(runner: ActionRunner, owner: Owner) -> None:
    thing = await make_thing(owner)
    await owner.execute("SELECT platform_clock_set('30 days', 1)")
    with correlation_scope("request-7"):
        closed = await runner.run(CLOSE_THING, CloseThing(id=thing, reason="broken"), JANE)
    assert closed.reason == await reason_of(owner, thing) == "broken"
    row = await owner.fetchrow("SELECT *, at - now() > '29 days' AS on_the_platforms_clock FROM operator_audit")
    assert row is not None
    assert (row["actor"], row["via"], row["action"]) == ("jane", "command", "things close")
    assert (row["outcome"], row["correlation_id"]) == ("done", "request-7")
    assert row["input"] == f'{{"id": "{thing}", "again": false, "reason": "broken"}}'
    assert row["on_the_platforms_clock"]


async def test_a_change_whose_audit_row_cannot_be_written_is_not_made(runner: ActionRunner, owner: Owner) -> None:
    thing = await make_thing(owner)
    await owner.execute(
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no audit today'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON operator_audit FOR EACH ROW EXECUTE FUNCTION refuse()
        """
    )
    with pytest.raises(DBAPIError, match="no audit today"):
        await runner.run(CLOSE_THING, CloseThing(id=thing, reason="broken"), JANE)
    assert await reason_of(owner, thing) is None


async def test_a_crash_between_change_and_commit_leaves_neither_change_nor_audit_row(
    runner: ActionRunner, owner: Owner, root: Owner
) -> None:
    thing = await make_thing(owner)
    holding = owner.transaction()
    await holding.start()
    await owner.execute("LOCK operator_audit IN EXCLUSIVE MODE")  # the call waits here, its change made
    closing = asyncio.create_task(runner.run(CLOSE_THING, CloseThing(id=thing, reason="broken"), JANE))
    waiting = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    pid = await eventually(lambda: root.fetchval(waiting), what="the call waits to write its audit row")
    await root.execute("SELECT pg_terminate_backend($1)", pid)
    alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"
    await eventually(lambda: root.fetchval(alive, pid), until=lambda count: count == 0, what="its session is gone")
    assert await reason_of(owner, thing) is None
    await holding.rollback()
    with pytest.raises(DBAPIError):
        await closing
    ((action, outcome, _),) = await audited(owner)
    assert (action, outcome) == ("things close", "failed")
    assert await reason_of(owner, thing) is None


async def test_a_call_whose_commit_was_done_though_its_answer_was_lost_is_audited_as_done(
    runner: ActionRunner, owner: Owner, logged: list[MutableMapping[str, Any]]
) -> None:
    thing = await make_thing(owner)

    lost = iter([ConnectionResetError("the answer to COMMIT was lost")])

    def lose_the_first_answer(_: object) -> None:
        for error in lost:
            raise error

    runner._database.after_commit(lose_the_first_answer)
    with pytest.raises(ConnectionResetError):
        await runner.run(CLOSE_THING, CloseThing(id=thing, reason="broken"), JANE)
    assert await reason_of(owner, thing) == "broken"
    assert await audited(owner) == [("things close", "done", "")]
    assert [entry["event"] for entry in logged] == ["ops.action.failed"], "and nothing is amiss with the audit"


async def test_a_refusal_is_audited_after_its_rollback(runner: ActionRunner, owner: Owner) -> None:
    thing = await make_thing(owner)
    await runner.run(CLOSE_THING, CloseThing(id=thing, reason="broken"), JANE)
    with pytest.raises(ThingClosed):
        await runner.run(CLOSE_THING, CloseThing(id=thing, reason="lost"), JANE)
    assert await reason_of(owner, thing) == "broken"
    assert (await audited(owner))[1] == (
        "things close",
        "refused",
        f"thing-closed {{'thing_id': '{thing}', 'reason': 'broken'}}",
    )


async def test_a_failure_is_audited_with_the_first_line_of_its_error_made_storable(
    runner: ActionRunner, owner: Owner
) -> None:
    bomb = await make_thing(owner, "bomb")
    with pytest.raises(RuntimeError):
        await runner.run(CLOSE_THING, CloseThing(id=bomb, reason="broken"), JANE)
    assert await audited(owner) == [("things close", "failed", "RuntimeError: broke � ? at once")]


async def test_a_long_error_is_audited_by_its_beginning(runner: ActionRunner, owner: Owner) -> None:
    async def run(_given: ActionInput, _tx: object) -> None:
        raise RuntimeError("x" * 5000)

    with pytest.raises(RuntimeError):
        await runner.run(replace(CLOSE_THING, run=run), CloseThing(id=UUID(int=1), reason="broken"), JANE)
    ((_, outcome, detail),) = await audited(owner)
    assert (outcome, len(detail)) == ("failed", 2000)


async def test_what_is_read_is_audited_too_and_says_how_much_was_shown(runner: ActionRunner, owner: Owner) -> None:
    thing = await make_thing(owner)
    await make_thing(owner)
    await runner.run(LIST_THINGS, ListThings(name="kettle"), JANE)
    await runner.run(SHOW_THING, OneThing(id=thing), JANE)
    assert await audited(owner) == [("things list", "done", "2 items"), ("things show", "done", "")]


async def test_an_action_that_only_reads_is_stopped_by_the_server_when_it_writes(
    runner: ActionRunner, owner: Owner
) -> None:
    thing = await make_thing(owner)
    with pytest.raises(DBAPIError, match="read-only transaction"):
        await runner.run(SPOIL_THINGS, ActionInput(), JANE)
    assert await reason_of(owner, thing) is None
    ((_, outcome, detail),) = await audited(owner)
    assert outcome == "failed"
    assert "read-only transaction" in detail
    assert "spoiled" not in detail, "an error's statement and its values stay out of the audit"


async def test_the_service_can_neither_change_nor_delete_an_audit_row(database: Database, owner: Owner) -> None:
    for statement in (
        "UPDATE operator_audit SET actor = 'nobody'",
        "DELETE FROM operator_audit",
        "TRUNCATE operator_audit",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.transaction() as tx:
                await (await tx.driver()).execute(statement)


async def test_while_the_database_is_away_the_error_is_that_of_the_action(
    app_address: DatabaseAddress, logged: list[MutableMapping[str, Any]]
) -> None:
    away = Database(replace(app_address, port=1), application_name="test", pool_size=1)
    with pytest.raises(ConnectionError):
        await ActionRunner(away, "order").run(LIST_THINGS, ListThings(), JANE)
    await away.close()
    assert [(entry["event"], entry["actor"]) for entry in logged] == [
        ("ops.action.failed", "jane"),
        ("ops.audit.failed", "jane"),
    ]


@pytest.mark.parametrize("actor", ["", "x" * 256, "two\nlines", "nul\0", "\ud800"])
def test_an_actor_that_no_audit_row_could_show_is_refused(actor: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        Operator(actor, "function")


@pytest.mark.parametrize("text", ["nul \0", "half \ud800"])
def test_a_text_that_no_audit_row_could_hold_is_refused_before_the_action_runs(text: str) -> None:
    with pytest.raises(ValueError, match=r"NUL|unicode"):
        CloseThing(id=UUID(int=1), reason=text)
