"""The operators' command, as a process: tables for people, JSON for programs, and an exit code that tells."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import uuid4

import asyncpg
import pytest
from ops_lab import command, make_table, make_thing

from service_platform.database import DatabaseAddress

Owner = asyncpg.Connection


@pytest.fixture
async def address(app_address: DatabaseAddress, owner: Owner) -> DatabaseAddress:
    """A service's database, with a table of things."""
    await make_table(owner)
    return app_address


async def last_audit(owner: Owner) -> asyncpg.Record:
    row = await owner.fetchrow("SELECT * FROM operator_audit ORDER BY at DESC LIMIT 1")
    assert row is not None
    return row


async def test_a_list_is_a_table_for_people_and_a_page_of_the_api_for_programs(
    address: DatabaseAddress, owner: Owner
) -> None:
    kettle = await make_thing(owner, "kettle", 1)
    await make_thing(owner, "lamp", 2)
    shown = await command(address, "things", "list", "--name", "kettle")
    assert (shown.code, shown.err) == (0, "")
    header, _, row = (line.split() for line in shown.out.splitlines() if line.strip())
    assert header == ["id", "name", "reason"]
    assert row == [str(kettle), "kettle"]
    printed = await command(address, "things", "list", "--name", "kettle", "--json")
    assert (printed.code, printed.err) == (0, "")
    assert printed.json == {
        "items": [{"id": str(kettle), "name": "kettle", "reason": None, "made_at": "2026-03-01T09:30:01Z"}],
        "next_cursor": None,
    }


async def test_pages_follow_each_other_by_the_cursor_that_was_printed(address: DatabaseAddress, owner: Owner) -> None:
    newest_first = [str(await make_thing(owner, "kettle", number)) for number in range(3)][::-1]
    first = await command(address, "things", "list", "--limit", "2", "--json")
    cursor = first.json["next_cursor"]
    for_people = await command(address, "things", "list", "--limit", "2")
    assert f"--cursor {cursor}" in for_people.out
    second = await command(address, "things", "list", "--limit", "2", "--cursor", cursor, "--json")
    assert [row["id"] for row in first.json["items"] + second.json["items"]] == newest_first
    assert second.json["next_cursor"] is None


async def test_a_change_is_made_in_the_name_of_the_actor_or_of_the_user_of_the_system(
    address: DatabaseAddress, owner: Owner
) -> None:
    thing = await make_thing(owner)
    closed = await command(address, "things", "close", str(thing), "--reason", "broken", "--actor", "jane")
    assert closed.code == 0
    assert ["reason", "broken"] in [line.split() for line in closed.out.splitlines()]
    row = await last_audit(owner)
    assert (row["actor"], row["via"], json.loads(row["input"])["id"]) == ("jane", "command", str(thing))
    await command(address, "things", "show", str(thing), LOGNAME="ann")
    assert (await last_audit(owner))["actor"] == "ann"


async def test_a_refusal_exits_1_and_says_what_to_do_in_the_language_of_the_terminal(
    address: DatabaseAddress, owner: Owner
) -> None:
    thing = await make_thing(owner)
    words = ("things", "close", str(thing), "--reason", "broken")
    await owner.execute("UPDATE thing SET reason = 'broken'")
    vietnamese = await command(address, *words, LANG="vi_VN.UTF-8")
    assert (vietnamese.code, vietnamese.out) == (1, "")
    assert vietnamese.err == "The thing is closed already (vi)\nSince broken. Leave it. (vi)\n"
    for_programs = await command(address, *words, "--json")
    assert (for_programs.code, for_programs.out) == (1, "")
    assert json.loads(for_programs.err) == {
        "type": "thing-closed",
        "title": "The thing is closed already",
        "detail": "Since broken. Leave it.",
        "thing_id": str(thing),
        "reason": "broken",
    }
    unknown = await command(address, "things", "show", str(uuid4()), LC_ALL="de_DE.UTF-8")
    assert (unknown.code, unknown.err) == (1, "There is no such thing\n")


async def test_nothing_in_a_row_can_steer_the_terminal_or_forge_another_row(
    address: DatabaseAddress, owner: Owner
) -> None:
    await make_thing(owner, "a\x1b[2Jb\rc\x9bd\n[red]e[/red]")
    shown = await command(address, "things", "list")
    assert shown.code == 0
    assert "a\\x1b[2Jb\\rc\\x9bd…" in shown.out
    thing = (await command(address, "things", "list", "--json")).json["items"][0]
    whole = await command(address, "things", "show", thing["id"])
    assert "[red]e[/red]" in whole.out
    assert "\x1b" not in whole.out


async def test_a_failure_exits_70_and_leads_to_its_audit_row(address: DatabaseAddress, owner: Owner) -> None:
    bomb = await make_thing(owner, "bomb")
    ended = await command(address, "things", "close", str(bomb), "--reason", "broken")
    assert (ended.code, ended.out) == (70, "")
    assert ended.err.startswith("It failed and was rolled back: RuntimeError: broke � ? at once")
    listed = await command(address, "audit", "list", "--outcome", "failed", "--json")
    assert [entry["action"] for entry in listed.json["items"]] == ["things close"]


async def test_a_database_that_is_away_exits_75_and_is_named(app_address: DatabaseAddress) -> None:
    ended = await command(replace(app_address, port=1), "things", "list")
    assert (ended.code, ended.out) == (75, "")
    assert "127.0.0.1:1 is away" in ended.err
    assert "Traceback" not in ended.err


async def test_wrong_settings_exit_78_as_in_every_process(app_address: DatabaseAddress) -> None:
    ended = await command(replace(app_address, name=""), "things", "list")
    assert ended.code == 78
    assert "DATABASE_NAME" in ended.err
