"""A cancel against a capture in every interleaving: never captured, or captured once and refunded once.

The boundaries are those that a clean run records (see `crash_points`). At each one of the capture the cancel comes and
runs as far as the locks let it; at each one of the cancel it is stopped, and the capture runs as far as they let it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

import pytest
from crash_points import CrashLab
from payment_doubles import Run

from world.crashing import running

CARDS = {"good": "pm_card_visa", "declined": "pm_card_chargeDeclined"}
AMOUNT = 1999


@pytest.mark.scenario("fenced-job/cancel-races-capture")
@pytest.mark.parametrize("card", CARDS)
async def test_a_cancel_at_any_instant_ends_never_captured_or_captured_once_and_refunded_once(
    crash_lab: CrashLab, card: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lab, method = crash_lab, CARDS[card]
    captures: list[str] = []
    for worker in (0, 0, 1, 1):
        captures = await _recorded_capture(lab, method, worker)
    cancels = await _recorded_cancel(lab, method)
    ends: dict[str, int] = {}

    for at, point in enumerate(captures):
        for crash in (False, True):
            end = await _cancel_at(lab, method, at, crash=crash, where=f"cancel at {at} ({point}), crash: {crash}")
            ends[end] = ends.get(end, 0) + 1
    for at, point in enumerate(cancels):
        end = await _capture_within_cancel(lab, method, at, f"capture at {at} of the cancel ({point})")
        ends[end] = ends.get(end, 0) + 1

    with capsys.disabled():
        print(f"\n  {card}: {2 * len(captures) + len(cancels)} interleavings: {ends}", end="")
    assert len(captures) > 20
    assert len(cancels) > 4
    assert set(ends) == ({"cancelled", "refunded"} if card == "good" else {"cancelled", "declined"})


async def _recorded_capture(lab: CrashLab, method: str, worker: int) -> list[str]:
    payment_id = await lab.placed(method)
    run = Run()
    await lab.until_done(await lab.capture_job(payment_id), run, worker=worker)
    return run.reached


async def _recorded_cancel(lab: CrashLab, method: str) -> list[str]:
    for _ in range(2):  # the first one opens a connection
        payment_id = await lab.placed(method)
        run = Run()
        await _cancel(lab, payment_id, run)
    return run.reached


async def _cancel_at(lab: CrashLab, method: str, at: int, *, crash: bool, where: str) -> str:
    """The capture stands still there while the cancel comes; then it goes on, or dies there."""
    payment_id = await lab.placed(method)
    job_id = await lab.capture_job(payment_id)
    capture = Run(hold_at=at, crash_at=at + 1 if crash else None)
    working = asyncio.create_task(lab.deliver(job_id, capture, worker=0))
    await asyncio.wait_for(capture.held.wait(), 30)
    cancelling = await _until_done_or_locked(lab, _cancel(lab, payment_id, Run()), "calm")
    capture.resume.set()
    await asyncio.wait_for(asyncio.gather(working, cancelling), 30)
    await lab.let_time_pass()
    await lab.finish(payment_id)
    return await _judge(lab, payment_id, where)


async def _capture_within_cancel(lab: CrashLab, method: str, at: int, where: str) -> str:
    """The cancel stands still there while the capture runs; then it goes on."""
    payment_id = await lab.placed(method)
    job_id = await lab.capture_job(payment_id)
    cancel = Run(hold_at=at)
    cancelling = asyncio.create_task(_cancel(lab, payment_id, cancel))
    await asyncio.wait_for(cancel.held.wait(), 30)
    working = await _until_done_or_locked(lab, lab.deliver(job_id, worker=0), "worker-0")
    cancel.resume.set()
    await asyncio.wait_for(asyncio.gather(cancelling, working), 30)
    await lab.let_time_pass()
    await lab.finish(payment_id)
    return await _judge(lab, payment_id, where)


async def _cancel(lab: CrashLab, payment_id: UUID, run: Run) -> None:
    order_id = await lab.value("SELECT order_id FROM payments WHERE id = $1", payment_id)
    with running(run):
        await lab.cancel(order_id)


async def _until_done_or_locked(lab: CrashLab, work: Coroutine[Any, Any, Any], application: str) -> asyncio.Task[Any]:
    """Begin the work, and return when it is over or waits for a lock that somebody holds."""
    task = asyncio.create_task(work)
    async with asyncio.timeout(30):
        while not task.done() and not await lab.waits_for_lock(application):
            await asyncio.wait({task}, timeout=0.003)
    return task


async def _judge(lab: CrashLab, payment_id: UUID, where: str) -> str:
    payment = await lab.row("SELECT * FROM payments WHERE id = $1", payment_id)
    refunds = await lab.value("SELECT count(*) FROM refunds WHERE payment_id = $1", payment_id)
    moves, told = lab.provider.moves(payment_id), await lab.told(payment_id)
    states = lab.provider.intents(payment_id)
    assert payment["cancel_requested_at"] is not None, where
    if payment["intent_id"] is not None:
        assert states[payment["intent_id"]] in {"canceled", "succeeded"}, f"{where}: could still capture"
    assert all(state != "succeeded" or intent == payment["intent_id"] for intent, state in states.items()), where
    match payment["status"]:
        case "cancelled":
            assert (moves, refunds, told) == ([], 0, ["payment.cancelled"]), where
            return "cancelled"
        case "declined":
            assert (moves, refunds, told) == ([], 0, ["payment.declined", "payment.cancelled"]), where
            return "declined"
        case "settled":
            assert moves == [("capture", AMOUNT), ("refund", AMOUNT)], where
            assert (refunds, payment["refunded_minor"]) == (1, AMOUNT), where
            assert told == ["payment.settled", "payment.refunded"], where
            return "refunded"
        case other:
            raise AssertionError(f"{where}: {other}")
