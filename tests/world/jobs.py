"""The jobs of an order: how a scenario finds them, waits for them, and takes them from their workers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import psutil

from .processes import family, stopped
from .story import PlacedOrder
from .waiting import eventually
from .world import World

Job = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """The job that one service does for an order."""

    kind: str
    subject: str  # finds the id that stands in the job's key, by the order's id
    outside: str  # the process that it calls
    max_silent_runs: int


WORK = {
    "payment": Work("payment.capture-payment", "SELECT id FROM payments WHERE order_id::text = $1", "provider", 10),
    "billing": Work("billing.deliver-invoice", "SELECT id FROM invoices WHERE order_id::text = $1", "mail", 10),
}


async def job_of(world: World, service: str, order: PlacedOrder) -> Job | None:
    """The job row that `service` has for the order."""
    subject = await world.databases.value(service, WORK[service].subject, order.id)
    rows = await world.databases.rows(
        service, "SELECT * FROM job WHERE kind = $1 AND job_key LIKE $2", WORK[service].kind, f"%{subject}%"
    )
    return dict(rows[0]) if subject and rows else None


async def until_job(
    world: World, service: str, order: PlacedOrder, is_so: Callable[[Job], bool], *, what: str, within: float = 60
) -> Job:
    """Wait until the order's job is as wanted; the row."""
    last: list[Job | None] = [None]

    async def looked() -> Job | None:
        last[0] = await job_of(world, service, order)
        return last[0] if last[0] is not None and is_so(last[0]) else None

    try:
        return await eventually(looked, what=f"{service}'s job for order {order.id} {what}", within=within)
    except AssertionError as error:
        error.add_note(f"The job is {last[0]}")
        raise


async def until_status(world: World, service: str, order: PlacedOrder, status: str, within: float = 60) -> Job:
    """Wait until the order's job has that status; the row."""
    return await until_job(
        world, service, order, lambda job: bool(job["status"] == status), what=f"is {status}", within=within
    )


async def until_it_calls(world: World, service: str, order: PlacedOrder, token: int) -> Job:
    """Wait until the run with that token has a connection to the process that its job calls; the row."""
    ports = set(world.stack.topology.ports_of(WORK[service].outside))

    def calls(job: Job) -> bool:
        if job["status"] != "running" or job["token"] != token:
            return False
        try:
            connections = psutil.Process(worker_child(job)).net_connections("tcp")
        except psutil.NoSuchProcess:
            return False
        return any(getattr(one.raddr, "port", None) in ports for one in connections)  # a listening one has none

    return await until_job(world, service, order, calls, what=f"is in a call of its run {token}")


@contextlib.asynccontextmanager
async def outside_frozen(world: World, service: str) -> AsyncIterator[None]:
    """What the service's jobs call answers nobody within the block.

    It begins when all earlier jobs are over: one that hangs in a call keeps a child of the worker from the job that the
    scenario is about.
    """

    async def at_rest() -> bool:
        busy = await world.databases.value(
            service, "SELECT count(*) FROM job WHERE status IN ('pending', 'failed', 'running')"
        )
        return bool(busy == 0)

    await eventually(at_rest, what=f"{service} has no job left to run", within=60)
    with stopped(family(world.stack, WORK[service].outside)):
        yield


def worker_child(job: Job) -> int:
    """The id of the process that claimed the job last."""
    return int(job["claimed_by"].rpartition(":")[2])


async def end_lease(world: World, service: str, job: Job) -> None:
    """The lease of the job's run has run out, unless another run owns it by now."""
    await world.databases.execute(
        service,
        "UPDATE job SET lease_expires_at = platform_now() WHERE id = $1 AND token = $2 AND status = 'running'",
        job["id"],
        job["token"],
    )


async def run_keys(world: World, job: UUID) -> set[int]:
    """The fencing tokens in the idempotency keys that the provider was shown for this job."""
    return {int(key.rsplit(":", 1)[1]) for key, _ in await keyed_calls(world, job)}


async def keyed_calls(world: World, job: UUID) -> list[tuple[str, str | None]]:
    """The idempotency key and the intent of each call that the provider was shown for this job."""
    async with httpx.AsyncClient(base_url=world.suite.provider_url, trust_env=False) as http:
        calls = (await http.get("/_double/ledger", params={"limit": 10_000})).json()["calls"]
    return [
        (call["idempotency_key"], call["intent"])
        for call in calls
        if (call["idempotency_key"] or "").startswith(str(job))
    ]
