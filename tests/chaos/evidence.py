"""What is known of events and unfinished work when all has settled: the rows of each service and the topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from native.topology import SERVICES
from service_platform.contracts import read_by
from service_platform.event_bus import headers, topic_of
from world.bus import Bus
from world.databases import Databases


@dataclass(frozen=True)
class Said:
    """An event that a service's transaction committed; by `correlation_id` all that is logged of its story is known."""

    source: str
    event_id: str
    name: str
    key: str
    correlation_id: str = ""


@dataclass(frozen=True)
class Carried:
    """A record of a topic."""

    source: str
    event_id: str
    key: str


@dataclass(frozen=True)
class Evidence:
    """All that the judge of events looks at.

    `said` are the events of all services, each service's in the order of its outbox; `carried` are the records of
    their topics, each partition's in its order. `readers` gives the consumers of each event by its name, `handled` the
    events by id that each consumer's inbox holds. `unfinished` has the ids of what should not be there at rest.
    """

    said: Sequence[Said]
    carried: Sequence[Carried]
    readers: Mapping[str, Sequence[str]]
    handled: Mapping[str, frozenset[str]]
    unfinished: Mapping[str, Sequence[str]] = field(default_factory=dict)


_SAID = """
    SELECT message_id::text AS id, headers->>'event-name' AS name, key, headers->>'correlation-id' AS correlation_id
    FROM outbox WHERE channel = 'kafka' AND consumer = '' ORDER BY position
"""
_HANDLED = "SELECT consumer, event_id::text AS id FROM inbox"
_UNFINISHED = {
    "outbox rows to be delivered": """
        SELECT o.message_id::text AS id FROM outbox_queue q JOIN outbox o USING (position)
        WHERE q.not_before <= now() + interval '1 minute'
    """,
    "events to be retried": "SELECT event_id::text AS id FROM retry_ledger",
    "dead letters": "SELECT coalesce(event_id, id)::text AS id FROM dead_letter WHERE state = 'dead'",
    "jobs that are not over": "SELECT id::text FROM job WHERE status IN ('pending', 'running', 'failed')",
    "dead jobs and jobs that need a review": "SELECT id::text FROM job WHERE status IN ('dead', 'needs_review')",
}


async def gather_evidence(databases: Databases, bus: Bus, left: Mapping[str, Sequence[str]]) -> Evidence:
    """Read it all, at rest. `left` is what the wait for rest saw last: by now a tick may have fired anew."""
    said: list[Said] = []
    carried: list[Carried] = []
    handled: dict[str, frozenset[str]] = {}
    for service in SERVICES:
        for row in await databases.rows(service, _SAID):
            said.append(Said(service, row["id"], row["name"], row["key"], row["correlation_id"] or ""))
        for record in await bus.everything(topic_of(service)):
            carried.append(Carried(service, record.header(headers.EVENT_ID), record.key))
        for row in await databases.rows(service, _HANDLED):
            handled[row["consumer"]] = handled.get(row["consumer"], frozenset()) | {row["id"]}
    return Evidence(said, carried, _readers(), handled, left)


async def unfinished(databases: Databases) -> dict[str, Sequence[str]]:
    """The ids of the work that waits, by service and kind."""
    return {
        f"{service}: {what}": [row["id"] for row in await databases.rows(service, question)]
        for service in SERVICES
        for what, question in _UNFINISHED.items()
    }


def correlations(about: Sequence[str], said: Sequence[Said]) -> list[str]:
    """Those of the events that have any of these ids or keys: an order that nothing became of is in no other log."""
    found = (event.correlation_id for event in said if {event.event_id, event.key} & set(about))
    return list(dict.fromkeys(filter(None, found)))


def _readers() -> dict[str, tuple[str, ...]]:
    readers: dict[str, tuple[str, ...]] = {}
    for service in SERVICES:
        for reader in read_by(service):
            readers[reader.name] = readers.get(reader.name, ()) + reader.consumers
    return readers
