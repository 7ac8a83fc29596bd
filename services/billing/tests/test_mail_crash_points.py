"""Crashes, lost answers and zombies at every statement and call of a document's delivery; the mailbox is the judge.

Nothing here is listed by hand: a clean run records its boundaries, and every one of them is then tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import asyncpg.protocol
import pytest
from mail_crashes import PDF, Catcher, MailCrashLab, MailRun

from billing_service.domain.invoices import CreditNoteDelivery, InvoiceDelivery
from service_platform.database import DatabaseAddress
from world.crashing import CALLS, WatchedProtocol
from world.logs import silent_logs

Begin = Callable[[MailCrashLab], Awaitable[tuple[UUID, UUID]]]

IN_FLIGHT = ("took sent", "took answered", "send sent")
"""A run that is stopped here has recorded that it will send, and not sent: no look can see what it does on waking."""


async def _refused_once(lab: MailCrashLab) -> tuple[UUID, UUID]:
    """The server does not take the first mail: the second run looks, finds none, and sends."""
    lab.catcher.meets("refuse")
    return await lab.invoice()


async def _answer_lost_once(lab: MailCrashLab) -> tuple[UUID, UUID]:
    """The server takes the first mail and its answer is lost: the second run looks, and sends nothing."""
    lab.catcher.meets("store_and_drop")
    return await lab.invoice()


CASES: dict[str, Begin] = {
    "invoice": MailCrashLab.invoice,
    "credit-note": MailCrashLab.credit_note,
    "refused-once": _refused_once,
    "answer-lost-once": _answer_lost_once,
}


@pytest.fixture
async def lab(service_databases: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MailCrashLab]:
    """Two workers on one database and a mail catcher in this process; what a PDF looks like is of no interest."""
    monkeypatch.setattr(asyncpg.protocol, "Protocol", WatchedProtocol)
    for delivery in (InvoiceDelivery, CreditNoteDelivery):
        monkeypatch.setattr(delivery, "_draw", lambda _self, _document: PDF)
    catcher = Catcher(tmp_path)
    await catcher.open()
    async with service_databases.migrated("billing") as made:
        owner, watcher = await _connected(made.owner), await _connected(made.app)
        lab = MailCrashLab(made.app, owner, watcher, catcher)
        with silent_logs():
            yield lab
        await lab.close()
        await owner.close()
        await watcher.close()


async def _connected(address: DatabaseAddress) -> asyncpg.Connection[asyncpg.Record]:
    return await asyncpg.connect(
        **address.driver_arguments(),
    )


@pytest.mark.parametrize("name", CASES)
async def test_a_document_is_mailed_once_wherever_a_worker_dies_or_wakes_again(
    lab: MailCrashLab, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begin = CASES[name]
    points: list[str] = []
    for worker in (0, 0, 1, 1):  # the first run of each worker opens its connection
        document_id, job_id = await begin(lab)
        clean = MailRun()
        await lab.until_done(job_id, clean, worker=worker)
        await _judge(lab, document_id, "undisturbed")
        points = clean.reached

    calls = [at for at, point in enumerate(points) if point.endswith(CALLS)]
    for at, point in enumerate(points):
        await _crash(lab, begin, at, f"crash at {at} ({point})")
    for at in calls:
        document_id, job_id = await begin(lab)
        await lab.until_done(job_id, MailRun(drop_at=at))
        await _judge(lab, document_id, f"answer lost at {at} ({points[at]})")
    doubled, wakes = 0, 0
    for at, point in enumerate(points):
        for wake_at in (10**6, len(points) // 2):
            doubled += await _awaken(lab, begin, at, wake_at, f"stopped at {at} ({point}), awake at {wake_at}")
            wakes += 1
    with capsys.disabled():
        print(
            f"\n  {name}: {len(points)} points, {len(points)} crashes, {len(calls)} lost answers,"
            f" {wakes} zombies' awakenings, of which {doubled} sent a second mail of one Message-ID",
            end="",
        )
    assert len(points) > 12
    assert doubled > 0, "a mail in flight cannot be seen by any look: where this holds no more, tell the README"


async def _crash(lab: MailCrashLab, begin: Begin, at: int, where: str) -> None:
    """The worker dies there; before a call without its effect, after it with it."""
    document_id, job_id = await begin(lab)
    assert not await lab.until_done(job_id, MailRun(crash_at=at)), where
    await lab.let_time_pass()
    await lab.until_done(job_id, MailRun())
    await _judge(lab, document_id, where)


async def _awaken(lab: MailCrashLab, begin: Begin, at: int, wake_at: int, where: str) -> int:
    """The worker is stopped there, another one takes over, and it wakes later; how many mails were too many."""
    document_id, job_id = await begin(lab)
    zombie = MailRun(hold_at=at)
    stopped = asyncio.create_task(lab.until_held(job_id, zombie))
    await asyncio.wait_for(zombie.held.wait(), 30)
    in_flight = zombie.reached[-1] in IN_FLIGHT
    if zombie.inside_transaction:
        await lab.end_transaction_of(0)
    await lab.let_time_pass()
    try:
        await lab.until_done(job_id, MailRun(wake_at=wake_at, zombie=zombie))
    finally:
        zombie.resume.set()
        await asyncio.wait_for(stopped, 30)
    await _judge(lab, document_id, where, most=2 if in_flight else 1)
    return len(lab.catcher.message_ids(document_id)) - 1


async def _judge(lab: MailCrashLab, document_id: UUID, where: str, *, most: int = 1) -> None:
    """The document was mailed, under its one Message-ID, at most `most` times, and that is written down."""
    lab.catcher.faults.clear()
    ids = lab.catcher.message_ids(document_id)
    assert 1 <= len(ids) <= most, f"{where}: {len(ids)} mails"
    assert len(set(ids)) == 1, f"{where}: {ids}"
    mailed = await lab.value(
        "SELECT mailed_at IS NOT NULL FROM (SELECT invoice_id AS id, mailed_at FROM invoice_mails"
        " UNION ALL SELECT credit_note_id, mailed_at FROM credit_note_mails) AS mails WHERE id = $1",
        document_id,
    )
    assert mailed is True, where
