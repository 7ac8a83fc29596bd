"""What operators see of dead letters and retries, and a requeue of many, on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from ledger_lab import Deliveries, incoming
from structlog.testing import capture_logs

from service_platform.database import Database
from service_platform.inbox import IncomingEvent
from service_platform.inbox.operations import (
    DISCARD_DEAD_LETTER,
    LIST_DEAD_LETTERS,
    LIST_RETRIES,
    REQUEUE_DEAD_LETTERS,
    SHOW_DEAD_LETTER,
    DiscardDeadLetter,
    ListDeadLetters,
    ListRetries,
    OneDeadLetter,
    RequeueDeadLetters,
)
from service_platform.ops import ActionRunner, Operator
from service_platform.pagination import Position, encode_cursor

JANE, ANN = Operator("jane", "command"), Operator("ann", "http")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with capture_logs():
        yield


@pytest.fixture
def runner(database: Database) -> ActionRunner:
    return ActionRunner(database, "shop")


async def bury(shop: Deliveries, event: IncomingEvent, *, error: str = "no", minutes: int = 0) -> UUID:
    """A dead letter of `event`, dead so many minutes after noon."""
    await shop.ledger.record_failure(event, RuntimeError(error), attempts_allowed=1, hold=False)
    letter: UUID = await shop.owner.fetchval(
        "UPDATE dead_letter SET died_at = $2 WHERE event_id = $1 RETURNING id",
        event.event_id,
        NOON + timedelta(minutes=minutes),
    )
    return letter


async def listed(runner: ActionRunner, **filters: Any) -> list[UUID]:
    return [row.id for row in (await runner.run(LIST_DEAD_LETTERS, ListDeadLetters(**filters), JANE)).items]


async def test_dead_letters_are_found_by_event_consumer_key_error_and_time(
    shop: Deliveries, runner: ActionRunner
) -> None:
    first = await bury(shop, incoming(key="a", consumer="x"), error="Timeout after 3 s")
    second = await bury(shop, incoming(key="b", consumer="y"), error="100% wrong", minutes=10)
    assert await listed(runner) == await listed(runner, event="thing.happened") == [first, second]
    assert await listed(runner, event="thing.ended") == []
    assert await listed(runner, consumer="x") == await listed(runner, key="a") == [first]
    assert await listed(runner, error="timeout AFTER") == [first]
    assert await listed(runner, error="0%") == [second]
    assert await listed(runner, error="_") == [], "what is looked for is text, no pattern"
    assert await listed(runner, died_from=NOON, died_before=NOON + timedelta(minutes=10)) == [first]
    assert await listed(runner, died_from=NOON + timedelta(minutes=10)) == [second]
    assert await listed(runner, consumer="x", error="wrong") == []


async def test_pages_of_dead_letters_and_retries_show_each_once(shop: Deliveries, runner: ActionRunner) -> None:
    letters = [await bury(shop, incoming(key=f"k{number}"), minutes=number // 2) for number in range(5)]
    waiting = [incoming(key=f"r{number}") for number in range(5)]
    for event in waiting:
        await shop.fail(event)
    seen: list[UUID] = []
    tried: list[UUID] = []
    letter_cursor = retry_cursor = None
    for _ in range(3):
        page = await runner.run(LIST_DEAD_LETTERS, ListDeadLetters(limit=2, cursor=letter_cursor), JANE)
        retries = await runner.run(LIST_RETRIES, ListRetries(limit=2, cursor=retry_cursor), JANE)
        seen += [row.id for row in page.items]
        tried += [row.event_id for row in retries.items]
        letter_cursor, retry_cursor = page.next_cursor, retries.next_cursor
    assert letter_cursor is retry_cursor is None
    assert sorted(seen) == sorted(letters)
    assert tried == [event.event_id for event in waiting]


async def test_a_cursor_beyond_every_position_ends_the_list(runner: ActionRunner) -> None:
    beyond = encode_cursor(Position(NOON, UUID(int=2**127)))
    assert (await runner.run(LIST_RETRIES, ListRetries(cursor=beyond), JANE)).items == []


async def test_one_dead_letter_is_shown_whole_whatever_its_state_and_its_bytes(
    shop: Deliveries, runner: ActionRunner
) -> None:
    text = await bury(shop, incoming(number=7))
    await shop.ledger.bury_nameless(key="k", headers={}, payload=b"\xff\x00", origin="t/0@1", error=ValueError("bare"))
    raw = await shop.owner.fetchval("SELECT id FROM dead_letter WHERE event_id IS NULL")
    await runner.run(DISCARD_DEAD_LETTER, DiscardDeadLetter(id=text, reason="seen to by hand"), JANE)
    shown = await runner.run(SHOW_DEAD_LETTER, OneDeadLetter(id=text), JANE)
    assert (shown.state, shown.reason, shown.payload, shown.payload_base64) == (
        "discarded",
        "seen to by hand",
        '{"number": 7}',
        None,
    )
    assert (shown.headers["event-name"], [failure["attempt"] for failure in shown.history]) == ("thing.happened", [1])
    nameless = await runner.run(SHOW_DEAD_LETTER, OneDeadLetter(id=raw), JANE)
    assert (nameless.event_name, nameless.payload, nameless.payload_base64) == ("", None, "/wA=")


async def test_what_a_dead_letter_holds_does_not_go_into_the_audit(shop: Deliveries, runner: ActionRunner) -> None:
    letter = await bury(shop, incoming(number=4711))
    await runner.run(SHOW_DEAD_LETTER, OneDeadLetter(id=letter), JANE)
    assert "4711" not in str(dict(await shop.owner.fetchrow("SELECT * FROM operator_audit")))


async def test_retries_tell_what_is_tried_next_and_what_waits_behind_it(shop: Deliveries, runner: ActionRunner) -> None:
    head, behind = incoming(), incoming()
    await shop.fail(head)
    await shop.ledger.append_behind(behind)
    rows = (await runner.run(LIST_RETRIES, ListRetries(key="k", consumer="c", event="thing.happened"), JANE)).items
    assert [(row.event_id, row.is_head, row.attempts) for row in rows] == [
        (head.event_id, True, 1),
        (behind.event_id, False, 0),
    ]
    assert str(rows[0].error).startswith("RuntimeError: no")
    assert rows[1].error is None
    assert (await runner.run(LIST_RETRIES, ListRetries(key="other"), JANE)).items == []


async def test_many_requeued_letters_of_one_key_take_effect_in_the_order_in_which_they_died(
    shop: Deliveries, runner: ActionRunner
) -> None:
    events = [incoming(number=number) for number in range(3)]
    for number, event in enumerate(events):
        await bury(shop, event, minutes=number)
    done = await runner.run(REQUEUE_DEAD_LETTERS, RequeueDeadLetters(apply=True), JANE)
    assert [item.fate for item in done.items] == ["done"] * 3
    for _ in events:
        await shop.wake(await shop.last_wake_up())
    assert await shop.effects() == [event.event_id for event in events]


async def test_records_that_name_no_event_do_not_stand_in_the_way_of_the_others(
    shop: Deliveries, runner: ActionRunner
) -> None:
    for number in range(3):
        await shop.ledger.bury_nameless(
            key="", headers={}, payload=b"", origin=f"t/0@{number}", error=ValueError("bare")
        )
    letter = await bury(shop, incoming())
    await shop.owner.execute("UPDATE dead_letter SET died_at = $1 WHERE event_id IS NULL", NOON - timedelta(days=1))
    found = await runner.run(REQUEUE_DEAD_LETTERS, RequeueDeadLetters(limit=1), JANE)
    assert [item.row.id for item in found.items] == [letter]
    assert not found.more


async def test_two_operators_who_requeue_all_at_once_requeue_each_letter_once(
    shop: Deliveries, runner: ActionRunner
) -> None:
    letters = [await bury(shop, incoming(key=f"k{number % 3}"), minutes=number) for number in range(15)]
    both = await asyncio.gather(
        *(runner.run(REQUEUE_DEAD_LETTERS, RequeueDeadLetters(apply=True), who) for who in (JANE, ANN))
    )
    items = [item for result in both for item in result.items]
    assert sorted(item.row.id for item in items if item.fate == "done") == sorted(letters)
    assert {item.reason for item in items if item.fate != "done"} <= {"dead-letter-resolved"}
    assert len(await shop.pending()) == 15
    in_order = "SELECT bool_and(ordered) FROM (SELECT d.died_at >= lag(d.died_at) OVER w AS ordered FROM retry_ledger r"
    assert await shop.owner.fetchval(
        f"{in_order} JOIN dead_letter d USING (event_id) WINDOW w AS (PARTITION BY r.key ORDER BY r.position)) AS o"
    )
