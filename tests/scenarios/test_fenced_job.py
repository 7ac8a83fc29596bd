"""The fence of jobs, on the real workers, by the effects that the provider and the mailbox saw."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from service_platform.jobs.log_events import JobsLogEvent
from world.databases import planted
from world.jobs import WORK, end_lease, job_of, run_keys, until_it_calls, until_status
from world.processes import family, stopped
from world.story import PlacedOrder
from world.waiting import eventually
from world.world import World

FENCED_OUT = str(JobsLogEvent.FENCED_OUT)


async def fail_next(world: World, service: str, times: int) -> None:
    """The next so many calls of the job's outside fail before they have any effect."""
    async with httpx.AsyncClient(trust_env=False) as http:
        if service == "payment":
            fault = {"operation": "payment_intents.create", "times": times, "outcome": "status", "status": 503}
            answer = await http.post(f"{world.suite.provider_url}/_double/faults", json=fault)
        else:
            fault = {"times": times, "outcome": "refuse"}
            answer = await http.post(f"{world.suite.mail_url}/_double/faults", json=fault)
        answer.raise_for_status()


@pytest.mark.scenario("fenced-job/claim-bumps-token")
async def test_each_claim_returns_the_previous_token_plus_one(world: World, service: str) -> None:
    await fail_next(world, service, times=2)
    order = await world.story.place()
    seen: list[int] = []

    async def done() -> dict[str, Any] | None:
        job = await job_of(world, service, order)
        if job is not None and job["token"] not in seen:
            seen.append(job["token"])
        return job if job is not None and job["status"] == "done" else None

    job = await eventually(done, what=f"{service}'s job is done at its third claim", within=90)
    assert job["token"] == job["claims"] == seen[-1]
    assert [after - before for before, after in itertools.pairwise(seen)] == [1] * (len(seen) - 1)
    if service == "payment":
        assert await run_keys(world, job["id"]) == set(range(1, job["token"] + 1)), "one key a claim, none twice"


# The first claim of a job waits in the database for a lock that the scenario holds.
_HOLD = """
    CREATE FUNCTION hold_first_claim() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(4711);
        RETURN NEW;
    END $$;
    CREATE TRIGGER hold_first_claim BEFORE UPDATE ON job FOR EACH ROW
    WHEN (NEW.token = 1 AND OLD.token = 0 AND NEW.job_key NOT LIKE 'tick:%')
    EXECUTE FUNCTION hold_first_claim();
"""
_LET_GO = "DROP TRIGGER hold_first_claim ON job; DROP FUNCTION hold_first_claim()"
_HELD = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"


@contextlib.asynccontextmanager
async def stopped_before_its_fence(world: World, service: str) -> AsyncIterator[tuple[PlacedOrder, dict[str, Any]]]:
    """Within the block the service's worker stands still with a job that it has claimed and done nothing for.

    It is stopped while its claim waits, and the claim commits after that: it will read of it when it goes on.
    """
    async with planted(world.databases, service, _HOLD, _LET_GO):
        lock = await world.databases.another(service)
        try:
            await lock.execute("SELECT pg_advisory_lock(4711)")
            order = await world.story.place()

            async def waits() -> bool:
                return bool(await world.databases.value(service, _HELD))

            await eventually(waits, what="the first claim of the order's job waits", within=60)
            with stopped(family(world.stack, f"{service}-worker")):
                await lock.execute("SELECT pg_advisory_unlock(4711)")
                yield order, await until_status(world, service, order, "running")
        finally:
            await lock.close()


@pytest.mark.scenario("fenced-job/zombie-fenced-out")
async def test_a_worker_stopped_before_its_fence_makes_no_call_when_it_resumes(world: World, service: str) -> None:
    worker = f"{service}-worker"

    async def heard_of_it() -> bool:
        lines = (world.stack.layout.logs / f"{worker}.log").read_text(encoding="utf-8").splitlines()
        return any(FENCED_OUT in line and str(first["id"]) in line and '"run":1,' in line for line in lines)

    with contextlib.ExitStack() as outside:
        async with stopped_before_its_fence(world, service) as (order, first):
            assert first["token"] == 1
            await end_lease(world, service, first)
            outside.enter_context(stopped(family(world.stack, WORK[service].outside)))
            world.stack.scale(worker, 2)
            await until_it_calls(world, service, order, token=2)
        # The zombie is awake again, on a connection as good as ever, and its successor waits for an answer.
        await eventually(heard_of_it, what="its fence has told the first run that the job is another's", within=60)
    taken_over = await until_status(world, service, order, "done")
    assert taken_over["token"] == 2
    view = await world.story.until_mailed(order)
    world.stack.scale(worker, 1)

    after = await until_status(world, service, order, "done")
    assert (after["token"], after["finished_at"]) == (2, taken_over["finished_at"])
    _, moves = await world.story.at_the_provider(order)
    assert len(moves) == 1
    assert len(await world.story.mails(view)) == 1
    if service == "payment":
        assert await run_keys(world, after["id"]) == {2}, "the provider saw no call of the stale run"
