"""Wake-ups: the head of a key is woken, and a wake-up is obeyed once, for its own attempt, when it is due."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ledger_lab import Deliveries, Owner, incoming

from service_platform.database import Database
from service_platform.inbox import StaleWakeUp, WakeUp


@pytest.mark.parametrize("attempts", [0, 2])
async def test_a_wake_up_of_another_attempt_is_not_obeyed(shop: Deliveries, attempts: int) -> None:
    await shop.fail(incoming())
    with pytest.raises(StaleWakeUp):
        await shop.wake(replace(await shop.last_wake_up(), attempts=attempts))


async def test_a_wake_up_that_names_no_head_is_not_obeyed(shop: Deliveries) -> None:
    head, second = incoming(), incoming()
    await shop.fail(head)
    await shop.ledger.append_behind(second)
    for attempts in (0, 1):  # its own, and the head's
        with pytest.raises(StaleWakeUp):
            await shop.wake(WakeUp("c", "order", "k", second.event_id, attempts))
    assert await shop.effects() == []
    assert len(await shop.pending()) == 2


async def test_a_wake_up_that_names_another_key_finds_nothing(owner: Owner, shop: Deliveries) -> None:
    """Its failure would be recorded under the lock of a key that is not the event's."""
    event = incoming()
    await shop.fail(event)
    wake_up = await shop.last_wake_up()
    assert await shop.ledger.entry(wake_up) == replace(event, attempts=1)
    assert await shop.ledger.entry(replace(wake_up, key="other")) is None
    assert await shop.fail(replace(event, key="other"), attempts=1, allowed=1) == "stale"
    assert await shop.pending() == [(event.event_id, 1)]


async def test_a_wake_up_that_comes_too_early_is_not_obeyed(database: Database, owner: Owner, shop: Deliveries) -> None:
    await Deliveries(database, owner, pause_seconds=600).fail(incoming())
    wake_up = await shop.last_wake_up()
    with pytest.raises(StaleWakeUp):
        await shop.wake(wake_up)
    await owner.execute("SELECT platform_clock_set('601 seconds', 1)")
    await shop.wake(wake_up)


async def test_a_second_wake_up_of_an_event_that_took_effect_does_nothing(shop: Deliveries) -> None:
    await shop.fail(incoming())
    wake_up = await shop.last_wake_up()
    await shop.wake(wake_up)
    with pytest.raises(StaleWakeUp):
        await shop.wake(wake_up)
    assert len(await shop.effects()) == 1


async def test_only_the_head_of_a_key_is_ever_woken(owner: Owner, shop: Deliveries) -> None:
    head = incoming()
    await shop.fail(head)
    for _ in range(3):
        await shop.ledger.append_behind(incoming())
    await shop.fail(head, attempts=1)
    assert (await shop.last_wake_up()).event_id == head.event_id
    woken = await owner.fetch("SELECT event_id FROM retry_ledger WHERE woken_at IS NOT NULL")
    assert [row["event_id"] for row in woken] == [head.event_id]


async def test_heads_that_nobody_came_for_are_woken_again_ever_less_often(owner: Owner, shop: Deliveries) -> None:
    head, behind = incoming(), incoming()
    await shop.fail(head)
    await shop.ledger.append_behind(behind)
    assert await shop.ledger.wake_overdue(first_wait_seconds=30) == 0, "it was woken just now"
    waits = []
    for seconds in range(10, 1000, 10):
        await owner.execute("SELECT platform_clock_set(make_interval(secs => $1), 1)", float(seconds))
        waits += [seconds] * await shop.ledger.wake_overdue(first_wait_seconds=30)
    assert waits == [30, 90, 210, 450, 930], "after 30, 60, 120, 240, 480 seconds"
    wake_up = await shop.last_wake_up()
    assert (wake_up.event_id, wake_up.not_before) == (head.event_id, None)
    await shop.wake(wake_up)
    assert await shop.effects() == [head.event_id]
