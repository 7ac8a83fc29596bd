"""The sweep: what the broker lost is sent again, bounded, and by one of many."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest
from jobs_lab import QUICK, Owner, Script, enqueue, hints, shift_clock

from service_platform.database import Database
from service_platform.jobs.statements import JobStatements


@pytest.fixture
def statements(database: Database) -> JobStatements:
    return JobStatements(database)


async def claim(statements: JobStatements, job_id: UUID) -> int:
    """Claim the job; the token."""
    row = await statements.claim(
        job_id, kind=QUICK.name, claimed_by="me", lease_seconds=30, max_claims=3, max_silent_runs=3
    )
    assert row is not None, "the claim matched nothing"
    return row.token


async def test_a_hint_that_nobody_came_for_is_sent_again_after_a_wait_that_doubles(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id = await enqueue(database, Script(), "a")
    await statements.mark_dispatched({job_id: 0}, resend_after_seconds=30)

    sent = []
    for second in range(0, 260, 10):
        await shift_clock(owner, second)
        if await statements.sweep(limit=10, resend_after_seconds=30):
            sent.append(second)

    assert sent == [30, 90, 210]
    assert await hints(owner, job_id) == 1 + len(sent)


async def test_a_run_whose_lease_ran_out_waits_as_long_for_its_hint_as_a_new_job_for_its_own(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id = await enqueue(database, Script(), "a")
    await statements.mark_dispatched({job_id: 0}, resend_after_seconds=30)
    await claim(statements, job_id)

    sent = []
    for second in range(0, 260, 10):
        await shift_clock(owner, second)
        if await statements.sweep(limit=10, resend_after_seconds=30):
            await statements.mark_dispatched({job_id: 1}, resend_after_seconds=30)
            sent.append(second)

    assert sent == [30, 60, 120, 240]


async def test_what_the_relay_still_has_to_send_is_left_alone(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    await enqueue(database, Script(), "a")
    await shift_clock(owner, 60)

    assert await statements.sweep(limit=10, resend_after_seconds=30) == 0


async def test_a_run_whose_lease_ran_out_is_sent_again_a_live_one_and_a_finished_one_are_not(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    lost, done = await enqueue(database, Script(), "lost"), await enqueue(database, Script(), "done")
    await claim(statements, lost)
    await statements.complete(done, expected_token=await claim(statements, done))
    assert await statements.sweep(limit=10, resend_after_seconds=30) == 0

    await shift_clock(owner, 31)

    assert await statements.sweep(limit=10, resend_after_seconds=30) == 1
    assert (await hints(owner, lost), await hints(owner, done)) == (2, 1)


async def test_a_failed_job_is_sent_when_it_is_due(database: Database, statements: JobStatements, owner: Owner) -> None:
    job_id = await enqueue(database, Script(), "a")
    token = await claim(statements, job_id)
    await statements.fail(job_id, expected_token=token, error="no", retry_in_seconds=5, max_claims=3)
    assert await statements.sweep(limit=10, resend_after_seconds=30) == 0

    await shift_clock(owner, 6)

    assert await statements.sweep(limit=10, resend_after_seconds=30) == 1


async def test_what_the_sink_notes_late_changes_nothing_of_a_job_that_was_claimed_since(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    failed, done = await enqueue(database, Script(), "failed"), await enqueue(database, Script(), "done")
    token = await claim(statements, failed)
    await statements.fail(failed, expected_token=token, error="no", retry_in_seconds=5, max_claims=3)
    await statements.complete(done, expected_token=await claim(statements, done))
    before = await owner.fetch("SELECT * FROM job ORDER BY id")

    await statements.mark_dispatched({failed: 0, done: 0}, resend_after_seconds=30)
    await statements.mark_dispatched({done: 1}, resend_after_seconds=30)

    assert await owner.fetch("SELECT * FROM job ORDER BY id") == before
    await shift_clock(owner, 6)
    assert await statements.sweep(limit=10, resend_after_seconds=30) == 1, "the failed one is sent when it is due"


async def test_sweeps_side_by_side_send_each_job_once_and_in_bounded_batches(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    ids = [await enqueue(database, Script(), f"job {number}") for number in range(40)]
    await statements.mark_dispatched(dict.fromkeys(ids, 0), resend_after_seconds=30)
    await shift_clock(owner, 31)

    swept = await asyncio.gather(*(statements.sweep(limit=10, resend_after_seconds=30) for _ in range(6)))
    while more := await statements.sweep(limit=10, resend_after_seconds=30):
        swept.append(more)

    assert max(swept) <= 10
    assert sum(swept) == 40
    assert {await hints(owner, job_id) for job_id in ids} == {2}


async def test_neither_sweep_nor_sink_waits_for_a_row_that_somebody_holds(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    held, free = await enqueue(database, Script(), "held"), await enqueue(database, Script(), "free")
    await statements.mark_dispatched({held: 0, free: 0}, resend_after_seconds=30)
    await shift_clock(owner, 31)

    async with owner.transaction():
        await owner.execute("SELECT FROM job WHERE id = $1 FOR UPDATE", held)
        async with asyncio.timeout(10):
            assert await statements.sweep(limit=10, resend_after_seconds=30) == 1
            await statements.mark_dispatched({held: 0, free: 0}, resend_after_seconds=30)

    assert (await hints(owner, held), await hints(owner, free)) == (1, 2)


async def test_the_hint_it_sends_carries_what_the_first_one_did(
    database: Database, statements: JobStatements, owner: Owner
) -> None:
    job_id = await enqueue(database, Script(), "a")
    await statements.mark_dispatched({job_id: 0}, resend_after_seconds=30)
    await shift_clock(owner, 31)

    await statements.sweep(limit=10, resend_after_seconds=30)

    first, second = await owner.fetch(
        """
        SELECT channel, destination, consumer, key, convert_from(payload, 'UTF8')::jsonb AS payload,
               headers->>'correlation_id' AS correlation_id
        FROM outbox WHERE key = $1 ORDER BY position
        """,
        str(job_id),
    )
    assert first == second
