"""What operators see of the outbox and do about a parked message, through the actions, on a real database."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest
from ops_plants import parked_message
from outbox_lab import Owner, ScriptedSink, all_sent, publish, relaying
from structlog.testing import capture_logs

from service_platform.database import Database
from service_platform.ops import ActionInput, ActionRunner, ListInput, Operator
from service_platform.outbox import RowNotParked
from service_platform.outbox.operations import (
    DISCARD_PARKED_MESSAGE,
    LIST_BLOCKED_KEYS,
    LIST_PARKED_MESSAGES,
    RELEASE_PARKED_MESSAGE,
    SHOW_BACKLOG,
    DiscardParkedMessage,
    OneParkedMessage,
)
from service_platform.pagination import Position, encode_cursor

JANE = Operator("jane", "command")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with capture_logs():
        yield


@pytest.fixture
def runner(database: Database) -> ActionRunner:
    return ActionRunner(database, "order")


async def test_a_parked_message_shows_in_backlog_blocked_keys_and_parked_list(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    position = await parked_message(database, owner)
    await publish(database, "k/e2")
    (backlog,) = (await runner.run(SHOW_BACKLOG, ActionInput(), JANE)).items
    (blocked,) = (await runner.run(LIST_BLOCKED_KEYS, ListInput(), JANE)).items
    (parked,) = (await runner.run(LIST_PARKED_MESSAGES, ListInput(), JANE)).items
    assert (backlog.pending, backlog.parked) == (1, 1)
    assert (blocked.key, blocked.position, blocked.state, blocked.waiting) == ("k", position, "parked", 1)
    assert (parked.position, parked.error, parked.created_at) == (position, "MSG_SIZE_TOO_LARGE", blocked.since)


async def test_pages_of_blocked_keys_and_parked_messages_show_each_once(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    for number in range(5):
        await publish(database, f"k{number}/bad")
    await owner.execute("UPDATE outbox_queue SET error = 'no', parked_at = '2026-03-01 09:30Z', tries = 3")
    positions = [row["position"] for row in await owner.fetch("SELECT position FROM outbox ORDER BY position")]
    blocked, parked, blocked_at, parked_at = [], [], None, None
    for _ in range(3):
        keys = await runner.run(LIST_BLOCKED_KEYS, ListInput(limit=2, cursor=blocked_at), JANE)
        messages = await runner.run(LIST_PARKED_MESSAGES, ListInput(limit=2, cursor=parked_at), JANE)
        blocked += [row.position for row in keys.items]
        parked += [row.position for row in messages.items]
        blocked_at, parked_at = keys.next_cursor, messages.next_cursor
    assert blocked == positions
    assert sorted(parked) == positions
    assert blocked_at is parked_at is None


async def test_a_cursor_beyond_every_position_ends_the_list(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    await parked_message(database, owner)
    (row,) = (await runner.run(LIST_BLOCKED_KEYS, ListInput(), JANE)).items
    beyond = encode_cursor(Position(row.since, UUID(int=2**127)))
    assert (await runner.run(LIST_BLOCKED_KEYS, ListInput(cursor=beyond), JANE)).items == []


async def test_a_released_message_is_sent_and_those_behind_it_after_it(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    position = await parked_message(database, owner)
    await publish(database, "k/e2")
    await runner.run(RELEASE_PARKED_MESSAGE, OneParkedMessage(position=position), JANE)
    sink = ScriptedSink()
    async with relaying(database, sink, poll_seconds=0.05):
        await all_sent(owner)
    assert sink.taken == ["k/bad", "k/e2"]


async def test_a_discarded_message_is_never_sent_and_says_why(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    position = await parked_message(database, owner)
    await publish(database, "k/e2")
    await runner.run(DISCARD_PARKED_MESSAGE, DiscardParkedMessage(position=position, reason="told by hand"), JANE)
    sink = ScriptedSink()
    async with relaying(database, sink, poll_seconds=0.05):
        await all_sent(owner)
    assert sink.taken == ["k/e2"]
    assert await owner.fetchval("SELECT discarded_because FROM outbox WHERE position = $1", position) == "told by hand"


async def test_a_message_that_is_not_parked_is_the_relays_and_stays_as_it_is(
    runner: ActionRunner, database: Database, owner: Owner
) -> None:
    await publish(database, "k/e1")
    position = await owner.fetchval("SELECT position FROM outbox")
    for action, given in (
        (RELEASE_PARKED_MESSAGE, OneParkedMessage(position=position)),
        (DISCARD_PARKED_MESSAGE, DiscardParkedMessage(position=position, reason="told by hand")),
    ):
        with pytest.raises(RowNotParked):
            await runner.run(action, given, JANE)
    assert await owner.fetchval("SELECT count(*) FROM outbox_queue WHERE parked_at IS NULL") == 1
