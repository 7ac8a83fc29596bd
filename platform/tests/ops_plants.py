"""What each changing action of the platform acts on: planted in a database, with the input that names it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from ledger_lab import Deliveries, Owner, incoming

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


PLANTS: Mapping[str, Plant] = {
    "dead-letters requeue": _one_letter,
    "dead-letters requeue-all": _all_letters,
    "dead-letters discard": _one_letter_and_why,
}
