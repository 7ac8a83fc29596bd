"""Crashes, lost answers and zombies at every statement and call of the jobs that move money; the ledger is the judge.

Nothing here is listed by hand: a clean run records its boundaries, and every one of them is then tried.
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from typing import Any
from uuid import UUID

import pytest
from crash_points import CrashLab
from payment_doubles import Run

_REFUND = "refunds.create"  # its key is the row's, whoever sends it
AMOUNT = 1999
PART = 700

WAKES = int(os.environ.get("FENCEPOST_WAKE_POINTS", "1"))
"""At how many of the later points a zombie wakes, spread evenly over them, beside after the end. 1000: all."""


class Case(ABC):
    """A job that moves money, how it begins, and what must be true of it at its end."""

    def __init__(self, lab: CrashLab) -> None:
        self.lab = lab

    @abstractmethod
    async def begin(self) -> tuple[UUID, UUID]:
        """The payment and the job."""

    @abstractmethod
    async def judge(self, payment_id: UUID, where: str) -> None:
        """Fails, and says `where` the run was disturbed, unless money moved as it should."""


class Capture(Case):
    async def begin(self) -> tuple[UUID, UUID]:
        payment_id = await self.lab.placed()
        return payment_id, await self.lab.capture_job(payment_id)

    async def judge(self, payment_id: UUID, where: str) -> None:
        payment = await self.lab.row("SELECT status, intent_id FROM payments WHERE id = $1", payment_id)
        assert payment["status"] == "settled", where
        assert self.lab.provider.moves(payment_id) == [("capture", AMOUNT)], where
        assert self.lab.provider.captured_intents(payment_id) == [payment["intent_id"]], f"{where}: an orphan captured"
        assert await self.lab.told(payment_id) == ["payment.settled"], where


class DeclinedCapture(Case):
    async def begin(self) -> tuple[UUID, UUID]:
        payment_id = await self.lab.placed("pm_card_chargeDeclined")
        return payment_id, await self.lab.capture_job(payment_id)

    async def judge(self, payment_id: UUID, where: str) -> None:
        payment = await self.lab.row("SELECT status, intent_id FROM payments WHERE id = $1", payment_id)
        assert payment["status"] == "declined", where
        assert self.lab.provider.moves(payment_id) == [], where
        states = self.lab.provider.intents(payment_id)
        assert states[payment["intent_id"]] == "canceled", f"{where}: a late confirmation could still capture"
        assert await self.lab.told(payment_id) == ["payment.declined"], where


class PartialRefund(Case):
    async def begin(self) -> tuple[UUID, UUID]:
        payment_id = await self.lab.captured(AMOUNT)
        refund = await self.lab.refund(payment_id, PART)
        return payment_id, await self.lab.refund_job(refund.id)

    async def judge(self, payment_id: UUID, where: str) -> None:
        refund = await self.lab.row("SELECT status, provider_reference FROM refunds WHERE payment_id = $1", payment_id)
        assert refund["status"] == "done", where
        assert self.lab.provider.moves(payment_id) == [("capture", AMOUNT), ("refund", PART)], where
        payment = await self.lab.row(
            "SELECT refunded_minor, refund_reserved_minor FROM payments WHERE id = $1", payment_id
        )
        assert tuple(payment) == (PART, 0), where
        assert await self.lab.told(payment_id) == ["payment.refunded"], where


class RefundWithKeptFailure(PartialRefund):
    """The first call's answer is a 500 that the provider keeps for the key, and that had no effect."""

    point = "before"

    async def begin(self) -> tuple[UUID, UUID]:
        payment_id, job_id = await super().begin()
        self.lab.meets(
            operation="refunds.create", outcome="status", status=500, point=self.point, payment_id=str(payment_id)
        )
        return payment_id, job_id


class RefundWithKeptFailureAndEffect(RefundWithKeptFailure):
    """As before, but the money moved."""

    point = "after"


CASES = {
    "capture": Capture,
    "declined": DeclinedCapture,
    "refund": PartialRefund,
    "refund-refused-for-the-key": RefundWithKeptFailure,
    "refund-refused-but-done": RefundWithKeptFailureAndEffect,
}


@pytest.mark.scenario("fenced-job/one-capture-at-every-crash-point")
@pytest.mark.parametrize("name", CASES)
async def test_money_moves_once_wherever_a_worker_dies_or_wakes_again(
    crash_lab: CrashLab, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name](crash_lab)
    points: list[str] = []
    for worker in (0, 0, 1, 1):  # the first run of each worker opens its connection
        points = await _undisturbed(case, worker)

    calls = [at for at, point in enumerate(points) if point.endswith((" sent", " answered", " refused"))]
    for at, point in enumerate(points):
        await _crash(case, at, f"crash at {at} ({point})")
    for at in calls:
        await _lose_answer(case, at, f"answer lost at {at} ({points[at]})")
    wakes = 0
    for at, point in enumerate(points):
        wakes += await _wake_at_later_points(case, at, f"stopped at {at} ({point})")
    with capsys.disabled():
        if os.environ.get("SHOW_POINTS"):
            print(*points, sep=chr(10))
        print(
            f"\n  {name}: {len(points)} points, {len(points)} crashes, {len(calls)} lost answers,"
            f" {wakes} zombies' awakenings",
            end="",
        )
    assert len(points) > 12
    assert wakes >= len(points)


async def _undisturbed(case: Case, worker: int) -> list[str]:
    """The boundaries of a clean run."""
    payment_id, job_id = await case.begin()
    clean = Run()
    await case.lab.until_done(job_id, clean, worker=worker)
    await case.judge(payment_id, "undisturbed")
    return clean.reached


async def _crash(case: Case, at: int, where: str) -> None:
    """The worker dies there; before a call without its effect, after it with it."""
    payment_id, job_id = await case.begin()
    assert not await case.lab.until_done(job_id, Run(crash_at=at)), where
    await case.lab.let_time_pass()
    await case.lab.until_done(job_id)
    await case.judge(payment_id, where)


async def _lose_answer(case: Case, at: int, where: str) -> None:
    """The run goes on and does not know whether the call had its effect."""
    payment_id, job_id = await case.begin()
    await case.lab.until_done(job_id, Run(drop_at=at))
    await case.judge(payment_id, where)


async def _wake_at_later_points(case: Case, at: int, where: str) -> int:
    """The worker is stopped there, another one takes over, and it wakes at later points of that one."""
    recorded = await _awaken(case, at, 10**6, f"{where}, awake after the end")
    later = len(recorded.reached)
    count = min(later, WAKES)
    for wake in [(2 * n + 1) * later // (2 * count) for n in range(count)]:
        await _awaken(case, at, wake, f"{where}, awake at {wake} ({recorded.reached[wake]}) of its successor")
    return count + 1


async def _awaken(case: Case, at: int, wake_at: int, where: str) -> Run:
    lab = case.lab
    payment_id, job_id = await case.begin()
    zombie = Run(hold_at=at)
    stopped = asyncio.create_task(lab.until_held(job_id, zombie))
    await asyncio.wait_for(zombie.held.wait(), 30)
    held_inside = zombie.inside_transaction
    if held_inside:
        await lab.end_transaction_of(0)
    zombie_token = await lab.value("SELECT token FROM job WHERE id = $1", job_id)
    calls_before = len(lab.provider.ledger.calls(0, 10_000, payment_id=str(payment_id)))
    await lab.let_time_pass()
    successor = Run(wake_at=wake_at, zombie=zombie)
    try:
        await lab.until_done(job_id, successor, worker=1)
    finally:
        zombie.resume.set()
        await asyncio.wait_for(stopped, 30)
    await case.judge(payment_id, where)
    made = lab.provider.ledger.calls(0, 10_000, payment_id=str(payment_id))[calls_before:]
    by_zombie = [call for call in made if _token_of(call, job_id) == zombie_token and call["operation"] != _REFUND]
    if wake_at > 0:  # before its successor's claim it is no zombie yet
        assert len(by_zombie) <= (0 if held_inside else 1), f"{where}: the stale worker made the calls {by_zombie}"
    return successor


def _token_of(call: dict[str, Any], job_id: UUID) -> int | None:
    key = call["idempotency_key"] or ""
    return int(key.rpartition(":")[2]) if key.startswith(f"{job_id}:") else None
