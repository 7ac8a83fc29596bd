"""What each changing action of the platform acts on: planted in a database, with the input that names it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from jobs_lab import QUICK, Script, enqueue
from ledger_lab import Deliveries, Owner, incoming
from outbox_lab import publish
from ticks_lab import DAILY, at, show

from service_platform.database import Database

Plant = Callable[[Database, Owner], Awaitable[Mapping[str, Any]]]


async def dead_letter(database: Database, owner: Owner) -> UUID:
    """An event that its consumer gave up."""
    event = incoming()
    await Deliveries(database, owner).fail(event, allowed=1)
    letter: UUID = await owner.fetchval("SELECT id FROM dead_letter WHERE event_id = $1", event.event_id)
    return letter


async def _one_letter(database: Database, owner: Owner) -> Mapping[str, Any]:
    return {"id": str(await dead_letter(database, owner))}


async def _one_letter_and_why(database: Database, owner: Owner) -> Mapping[str, Any]:
    return {"id": str(await dead_letter(database, owner)), "reason": "refunded by hand"}


async def _all_letters(database: Database, owner: Owner) -> Mapping[str, Any]:
    await dead_letter(database, owner)
    return {"event": "thing.happened", "apply": True}


async def parked_message(database: Database, owner: Owner) -> int:
    """A message that the broker refused for good."""
    await publish(database, "k/bad")
    position: int = await owner.fetchval("SELECT max(position) FROM outbox")
    await owner.execute("SELECT outbox_mark_suspect(ARRAY[$1::bigint], ARRAY['in company'])", position)
    await owner.execute("SELECT outbox_refuse($1, 'MSG_SIZE_TOO_LARGE', 1::int2, '0')", position)
    return position


async def _one_message(database: Database, owner: Owner) -> Mapping[str, Any]:
    return {"position": await parked_message(database, owner)}


async def _one_message_and_why(database: Database, owner: Owner) -> Mapping[str, Any]:
    return {"position": await parked_message(database, owner), "reason": "told by hand"}


async def dead_job(database: Database, owner: Owner) -> UUID:
    """A job whose claims are used up."""
    job_id = await enqueue(database, Script(), "a")
    await owner.fetchval("SELECT status FROM job_claim($1, $2, 'me', 30, 1, 3)", job_id, QUICK.name)
    await owner.fetchval("SELECT job_fail($1, 1, 'Timeout: the provider said nothing', 0, 1)", job_id)
    return job_id


async def _one_job(database: Database, owner: Owner) -> Mapping[str, Any]:
    return {"id": str(await dead_job(database, owner))}


async def _all_jobs(database: Database, owner: Owner) -> Mapping[str, Any]:
    await dead_job(database, owner)
    return {"kind": QUICK.name, "error": "timeout", "apply": True}


async def _waiting_job_and_why(database: Database, owner: Owner) -> Mapping[str, Any]:
    return {"id": str(await enqueue(database, Script(), "a")), "reason": "no longer wanted"}


async def _job_and_how_it_ended(database: Database, owner: Owner) -> Mapping[str, Any]:
    return {"id": str(await dead_job(database, owner)), "status": "done", "reason": "refunded by hand"}


async def _one_tick(_database: Database, owner: Owner) -> Mapping[str, Any]:
    await show(owner, at("12:00:00"), rate=0.01)  # so slow that both calls are in one minute
    return {"name": DAILY.name}


PLANTS: Mapping[str, Plant] = {
    "dead-letters requeue": _one_letter,
    "dead-letters requeue-all": _all_letters,
    "dead-letters discard": _one_letter_and_why,
    "parked release": _one_message,
    "parked discard": _one_message_and_why,
    "jobs retry": _one_job,
    "jobs retry-all": _all_jobs,
    "jobs cancel": _waiting_job_and_why,
    "jobs resolve": _job_and_how_it_ended,
    "ticks run": _one_tick,
}
