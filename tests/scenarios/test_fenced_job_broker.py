"""The broker forgets, dies and restarts, and no job is lost or run twice."""

from __future__ import annotations

import pytest
import redis

from native.credentials import REDIS_PASSWORD
from world.jobs import outside_frozen, until_job, until_status
from world.processes import family, kill, stopped
from world.story import PlacedOrder
from world.waiting import eventually
from world.world import World


def broker(world: World) -> redis.Redis:
    """A client of the stack's broker."""
    password = (world.stack.layout.secrets / REDIS_PASSWORD).read_text(encoding="utf-8")
    return redis.Redis(port=world.stack.topology.ports["valkey"], password=password, socket_timeout=5)


async def until_hinted(world: World, service: str, order: PlacedOrder) -> None:
    """Wait until the broker has the hint of the order's job and nobody has taken the job."""
    await until_job(
        world,
        service,
        order,
        lambda job: job["status"] == "pending" and job["dispatched_at"] is not None,
        what="waits and its hint was sent",
    )


@pytest.mark.scenario("fenced-job/broker-loss-loses-no-job")
async def test_a_broker_that_is_emptied_killed_and_restarted_loses_no_job_and_runs_none_twice(
    world: World, service: str
) -> None:
    worker = f"{service}-worker"
    with stopped(family(world.stack, worker)):
        hinted = [await world.story.place() for _ in range(2)]
        for order in hinted:
            await until_hinted(world, service, order)
        with broker(world) as client:
            client.flushall()
    for order in hinted:
        await until_status(world, service, order, "done")
    orders = list(hinted)

    async with outside_frozen(world, service):
        orders.append(await world.story.place())
        await until_status(world, service, orders[-1], "running")
        kill(world.stack, "valkey")
        orders.append(await world.story.place())

    async def answers() -> bool:
        try:
            with broker(world) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    await eventually(answers, what="the broker is back after it was killed")
    orders.append(await world.story.place())
    world.stack.restart("valkey")
    orders.append(await world.story.place())

    for order in orders:
        job = await until_status(world, service, order, "done")
        assert (job["token"], job["claims"]) == (1, 1), f"run anew after: {job['error']}"
    for order in orders:
        view = await world.story.until_mailed(order)
        _, moves = await world.story.at_the_provider(order)
        assert len(moves) == 1
        assert len(await world.story.mails(view)) == 1
