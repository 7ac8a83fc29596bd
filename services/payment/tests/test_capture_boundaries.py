"""A capture that dies, loses an answer or is overtaken at every boundary: the provider's ledger is the judge."""

from __future__ import annotations

import asyncio

import pytest
from payment_capture import AMOUNT_MINOR, CaptureWorld
from payment_doubles import Run

from payment_service.domain.payments import IntentStatus, PaymentStatus
from payment_service.events import PaymentDeclined, PaymentSettled
from world.crashing import Crash

DECLINES_ALWAYS = 10**6
CARDS = {"good": 0, "declined": DECLINES_ALWAYS, "declined-once": 1}


async def _world(card: str) -> CaptureWorld:
    world = CaptureWorld(declines=CARDS[card])
    await world.open()
    return world


async def _boundaries(card: str) -> list[str]:
    """The boundaries of an undisturbed run."""
    world = await _world(card)
    run = Run()
    await world.deliver(run)
    assert world.state.job.done
    return run.reached


def _judge(world: CaptureWorld, card: str, where: str) -> None:
    """Captured exactly once or never, by the stored intent, and told once, truly."""
    payment, ledger, told = world.payment, world.provider, world.state.published
    assert payment.intent_id is not None, where
    assert len(told) == 1, f"{where}: told {told}"
    for intent in ledger.intents.values():
        assert intent.id == payment.intent_id or intent.status is IntentStatus.UNCONFIRMED, f"{where}: orphan confirmed"
    if payment.status is PaymentStatus.SETTLED:
        assert ledger.captures == [payment.intent_id], f"{where}: captures {ledger.captures}"
        assert isinstance(told[0], PaymentSettled), where
        assert (told[0].amount_minor, told[0].provider_reference) == (AMOUNT_MINOR, payment.intent_id), where
    else:
        assert payment.status is PaymentStatus.DECLINED, f"{where}: {payment.status}"
        assert ledger.captures == [], f"{where}: declined, but captured"
        assert ledger.intents[payment.intent_id].status is IntentStatus.CANCELLED, f"{where}: can still capture"
        assert isinstance(told[0], PaymentDeclined), where
    if card == "good":
        assert payment.status is PaymentStatus.SETTLED, where
    if card == "declined":
        assert payment.status is PaymentStatus.DECLINED, where
        assert payment.reason == "insufficient_funds", where
    keys = [key for _, key in ledger.calls if key]
    assert len(keys) == len(set(keys)), f"{where}: one idempotency key for two calls: {ledger.calls}"


@pytest.mark.parametrize("card", CARDS)
async def test_an_undisturbed_capture_ends_right(card: str) -> None:
    world = await _world(card)
    await world.deliver()
    _judge(world, card, "undisturbed")
    assert world.state.job.done


async def test_an_undisturbed_capture_makes_two_calls_and_four_commits() -> None:
    world = await _world("good")
    run = Run()
    await world.deliver(run)
    assert [operation for operation, _ in world.provider.calls] == ["create", "confirm"]
    assert run.reached.count("after COMMIT") == 4


@pytest.mark.parametrize("card", CARDS)
async def test_a_crash_at_any_boundary_is_mended_by_the_next_runs(card: str) -> None:
    boundaries = await _boundaries(card)
    assert len(boundaries) > 15
    for at, boundary in enumerate(boundaries):
        world = await _world(card)
        with pytest.raises(Crash):
            await world.deliver(Run(crash_at=at))
        await world.deliver_until_done()
        _judge(world, card, f"crash at {at} ({boundary})")


@pytest.mark.parametrize("card", CARDS)
async def test_two_crashes_at_any_boundaries_are_mended_by_the_next_runs(card: str) -> None:
    for first in range(len(await _boundaries(card))):
        for second in range(30):
            world = await _world(card)
            with pytest.raises(Crash):
                await world.deliver(Run(crash_at=first))
            run = Run(crash_at=second)
            try:
                await world.deliver(run)
            except Crash:
                await world.deliver_until_done()
            _judge(world, card, f"crashes at {first} and {second} ({run.reached[-1]})")
            if world.state.job.done and len(run.reached) <= second:
                break


@pytest.mark.parametrize("card", CARDS)
async def test_a_lost_answer_leaves_the_payment_open_for_the_next_run(card: str) -> None:
    boundaries = await _boundaries(card)
    answers = [at for at, boundary in enumerate(boundaries) if boundary.endswith(("sent", "answered"))]
    assert len(answers) >= 4
    for at in answers:
        world = await _world(card)
        await world.deliver(Run(drop_at=at))
        assert not world.state.job.done
        await world.deliver_until_done()
        _judge(world, card, f"answer lost at {at} ({boundaries[at]})")


@pytest.mark.parametrize("card", CARDS)
async def test_a_stopped_worker_that_wakes_at_any_later_point_changes_nothing(card: str) -> None:
    """The worker is stopped at each boundary, another one takes over, and it wakes at each boundary of that one."""
    interleavings = 0
    for hold_at, held_at_boundary in enumerate(await _boundaries(card)):
        for wake_at in range(40):
            world = await _world(card)
            zombie = Run(hold_at=hold_at)
            async with asyncio.TaskGroup() as group:
                group.create_task(world.deliver(zombie))
                await zombie.held.wait()
                calls_before = len(world.provider.calls)
                successor = Run(wake_at=wake_at, zombie=zombie)
                await world.deliver(successor)
                zombie.resume.set()
            await world.deliver_until_done()
            where = f"stopped at {hold_at} ({held_at_boundary}), woken at {wake_at}"
            _judge(world, card, where)
            by_zombie = [key for _, key in world.provider.calls[calls_before:] if key.endswith(":1")]
            assert len(by_zombie) <= 1, f"{where}: the stale worker made further calls {by_zombie}"
            if not held_at_boundary.endswith(("after COMMIT", "sent")):
                assert not by_zombie, f"{where}: stopped before a fence it must not call any more, not {by_zombie}"
            interleavings += 1
            if wake_at >= len(successor.reached):
                break
    assert interleavings > 150
