"""Runs of one job after and beside each other, on the real workers: a lease that is kept or lost, a run that dies."""

from __future__ import annotations

import json
from datetime import timedelta

import psutil
import pytest

from world.jobs import (
    WORK,
    Job,
    end_lease,
    job_of,
    keyed_calls,
    outside_frozen,
    run_keys,
    until_it_calls,
    until_job,
    until_status,
    worker_child,
)
from world.waiting import eventually
from world.world import World

LEASE = timedelta(seconds=15)  # of both kinds; it is renewed every third of it


async def until_fenced_out(world: World, service: str, job: Job, *, run: int) -> None:
    """Wait until the service's worker says that this run, and no other, was fenced out."""

    async def logged() -> list[int]:
        lines = world.stack.log(f"{service}-worker").read_text(encoding="utf-8").splitlines()
        about = [json.loads(line) for line in lines if "jobs.job.fenced_out" in line and str(job["id"]) in line]
        return [line["run"] for line in about]

    assert await eventually(logged, what=f"run {run} was fenced out") == [run]


@pytest.mark.scenario("fenced-job/redispatch-isolated")
async def test_a_second_run_works_under_its_own_token_and_the_first_ones_write_is_refused(
    world: World, service: str
) -> None:
    async with outside_frozen(world, service):
        order = await world.story.place()
        first = await until_it_calls(world, service, order, token=1)

        async def taken_over() -> bool:
            await end_lease(world, service, first)  # again and again: the first run is alive and renews it
            job = await job_of(world, service, order)
            return job is not None and bool(job["token"] == 2)

        await eventually(taken_over, what="another run claims the job")

    job = await until_status(world, service, order, "done")
    assert (job["token"], job["claims"]) == (2, 2)
    await until_fenced_out(world, service, job, run=1)
    view = await world.story.until_mailed(order)
    _, moves = await world.story.at_the_provider(order)
    assert len(moves) == 1
    assert len({mail.message_id for mail in await world.story.mails(view)}) == 1
    if service == "payment":
        of_second = {intent for key, intent in await keyed_calls(world, job["id"]) if key.endswith(":2")}
        assert of_second == {moves[0].intent}, "money moved by what the second run made, under its own keys"
        assert await run_keys(world, job["id"]) <= {1, 2}


@pytest.mark.scenario("fenced-job/lease-renewed-while-working")
async def test_a_long_call_keeps_its_lease_and_a_stopped_process_loses_it(world: World, service: str) -> None:
    async with outside_frozen(world, service):
        order = await world.story.place()
        first = await until_it_calls(world, service, order, token=1)
        kept = await until_job(
            world,
            service,
            order,
            lambda job: job["token"] == 1 and job["lease_expires_at"] > first["lease_expires_at"] + LEASE / 4,
            what="has its lease renewed while it waits for an answer",
            within=20,
        )
        zombie = psutil.Process(worker_child(kept))
        zombie.suspend()
    try:
        # Long enough for a renewal, if anybody was there to make it.
        await world.databases.execute(
            service,
            "UPDATE job SET lease_expires_at = platform_now() + $2::interval WHERE id = $1",
            kept["id"],
            LEASE / 2,
        )
        job = await until_status(world, service, order, "done")
    finally:
        zombie.resume()
    assert (job["token"], job["claims"]) == (2, 2)
    await until_fenced_out(world, service, job, run=1)
    await world.story.until_mailed(order)
    _, moves = await world.story.at_the_provider(order)
    assert len(moves) == 1


@pytest.mark.scenario("fenced-job/poison-job-dies")
async def test_a_job_that_kills_its_worker_is_dead_at_its_limit_and_operators_see_it(
    world: World, service: str
) -> None:
    runs = WORK[service].max_silent_runs
    async with outside_frozen(world, service):
        order = await world.story.place()
        for token in range(1, runs + 1):
            job = await until_it_calls(world, service, order, token)
            psutil.Process(worker_child(job)).kill()
            await end_lease(world, service, job)
        job = await until_status(world, service, order, "dead")
    assert (job["token"], job["claims"], job["silent_runs"]) == (runs + 1, runs, runs)
    assert "ended without a word" in job["error"]

    # Others run on, and nothing claims the dead one until somebody decides.
    await world.story.until_mailed(await world.story.place())
    seen = await world.operators.jobs(service, status="dead", key=job["job_key"])
    assert [(row["id"], row["status"], row["silent_runs"]) for row in seen] == [(str(job["id"]), "dead", runs)]
    assert await world.operators.retry_job(service, job["id"]) == "retried"
    done = await until_status(world, service, order, "done")
    assert (done["token"], done["claims"]) == (runs + 2, 1)
    await world.story.until_mailed(order)
    _, moves = await world.story.at_the_provider(order)
    assert len(moves) == 1
