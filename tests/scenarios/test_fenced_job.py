"""The fence of jobs, on the real workers, by the effects that the provider and the mailbox saw."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest

from world.databases import planted
from world.jobs import job_of, run_keys, until_status
from world.processes import family, stopped
from world.waiting import eventually
from world.world import World


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


# The first fence of the first run waits in the database for a lock that the scenario holds.
_HOLD = """
    CREATE FUNCTION hold_first_fence() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(4711);
        RETURN NEW;
    END $$;
    CREATE TRIGGER hold_first_fence BEFORE UPDATE ON job FOR EACH ROW
    WHEN (NEW.token = 1 AND NEW.current_step IS DISTINCT FROM OLD.current_step)
    EXECUTE FUNCTION hold_first_fence();
"""
_LET_GO = "DROP TRIGGER hold_first_fence ON job; DROP FUNCTION hold_first_fence()"
_HELD = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"


@contextlib.asynccontextmanager
async def first_fence_held(world: World, service: str) -> AsyncIterator[Callable[[], Awaitable[int | None]]]:
    """Within the block the first fence of every first run waits; yields who asks for the waiting server process."""
    async with planted(world.databases, service, _HOLD, _LET_GO):
        lock = await world.databases.another(service)
        try:
            await lock.execute("SELECT pg_advisory_lock(4711)")

            async def held() -> int | None:
                pid = await world.databases.value(service, _HELD)
                return int(pid) if pid else None

            yield held
        finally:
            await lock.close()


@pytest.mark.scenario("fenced-job/zombie-fenced-out")
async def test_a_worker_stopped_before_its_fence_makes_no_call_when_it_resumes(world: World, service: str) -> None:
    worker = f"{service}-worker"
    async with first_fence_held(world, service) as held:
        order = await world.story.place()
        backend = await eventually(held, what="the first run waits at its first fence")
        with stopped(family(world.stack, worker)):
            # For everybody else the zombie's machine is gone: its connection is cut, and its lease runs out.
            await world.databases.cut(backend)
            first = await until_status(world, service, order, "running")
            await world.databases.execute(
                service, "UPDATE job SET lease_expires_at = platform_now() WHERE id = $1", first["id"]
            )
            world.stack.scale(worker, 2)
            taken_over = await until_status(world, service, order, "done")
            assert taken_over["token"] == 2
        view = await world.story.until_mailed(order)

        # The zombie is awake again, and alone: work that comes now is done by it, so it is past its old run.
        world.stack.scale(worker, 1)
    await world.story.until_mailed(await world.story.place())

    after = await until_status(world, service, order, "done")
    assert (after["token"], after["finished_at"]) == (2, taken_over["finished_at"])
    _, moves = await world.story.at_the_provider(order)
    assert len(moves) == 1
    assert len(await world.story.mails(view)) == 1
    if service == "payment":
        assert await run_keys(world, after["id"]) == {2}, "the provider saw no call of the stale run"
