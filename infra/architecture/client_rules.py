"""Each client of the outside has its one place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rules import Breach

from .sources import PLATFORM, Import, Rule, Source, Sources, deployed


@dataclass(frozen=True)
class Place:
    """`packages`, or single things of them, are imported in `modules` only (`*` is any service); `mend` says what
    others do."""

    packages: frozenset[str]
    modules: tuple[str, ...]
    mend: str


PLACES: Final = (
    Place(
        frozenset({"confluent_kafka", "aiokafka", "kafka", "faststream"}),
        (f"{PLATFORM}.event_bus",),
        "Publish by EventBus in a domain service, read by a Consumer: what goes to Kafka beside the outbox is lost or "
        "told of what was rolled back.",
    ),
    Place(
        frozenset({"celery", "kombu", "billiard", "dramatiq", "rq", "arq"}),
        (f"{PLATFORM}.jobs",),
        "Declare a JobKind, enqueue it in the domain's transaction, run it by a FencedProcessor.",
    ),
    Place(
        frozenset({"cronsim", "croniter", "apscheduler", "schedule"}),
        (f"{PLATFORM}.ticks",),
        "Add a Tick to the service's JOB_TICKS.",
    ),
    Place(
        frozenset({"redis", "valkey", "limits"}),
        (f"{PLATFORM}.jobs", f"{PLATFORM}.http.rate_limit"),
        "Keep it in a table: Redis holds hints of jobs and rate limits, which may be lost.",
    ),
    Place(
        frozenset({"smtplib", "aiosmtplib"}),
        ("*.integrations",),
        "Let a job's step call a domain service that has a Mailer.",
    ),
    Place(
        frozenset({"stripe"}),
        ("payment_service.integrations",),
        "Use the CardProvider of the domain: one adapter knows the provider's words.",
    ),
    Place(
        frozenset({"httpx", "requests", "aiohttp", "urllib3", "urllib.request", "http.client", "niquests", "grpc"}),
        (f"{PLATFORM}.http.keys", f"{PLATFORM}.telemetry.healthcheck", "*.integrations"),
        "Write an adapter in integrations/ that meets a Protocol of the domain, and call it in a job's step. A "
        "service is never called: its events are read.",
    ),
    Place(
        frozenset({"asyncpg", "psycopg", "psycopg2", "sqlite3", "aiosqlite"}),
        tuple(f"{PLATFORM}.{module}" for module in ("database", "inbox", "jobs", "outbox")),
        "Use the session of a transaction or of database.read().",
    ),
    Place(
        frozenset(
            {
                "sqlalchemy.create_engine",
                "sqlalchemy.orm.sessionmaker",
                "sqlalchemy.ext.asyncio.create_async_engine",
                "sqlalchemy.ext.asyncio.async_sessionmaker",
            }
        ),
        (f"{PLATFORM}.database",),
        "Take the Database that bootstrap opened: a service has one, with its pool, its time limits and its claims.",
    ),
    Place(
        frozenset({f"{PLATFORM}.outbox"}),
        (PLATFORM, "*.bootstrap"),
        "Publish by EventBus.publish, or enqueue by the function of the job's kind: they check what they write.",
    ),
    Place(
        frozenset({"fastapi", "starlette", "uvicorn"}),
        (f"{PLATFORM}.http", f"{PLATFORM}.ops.routes", "*.api", "*.bootstrap"),
        "HTTP ends at the API: give the domain plain values, and raise an error of the domain.",
    ),
)


def a_client_is_used_in_its_one_place(sources: Sources) -> Iterator[Breach]:
    """In what is deployed. Tools and tests are on the other side of these clients."""
    for source in deployed(sources):
        for found in source.imports:
            for place in PLACES:
                if _is_of(found, place) and not _is_in(source, place):
                    what = f"{found.name} of {found.module}" if found.name else found.module
                    yield Breach(f"{source.path}:{found.line}", f"it imports {what}", place.mend)


def _is_of(found: Import, place: Place) -> bool:
    return any(f"{found.module}.{found.name}.".startswith(f"{package}.") for package in place.packages)


def _is_in(source: Source, place: Place) -> bool:
    own = source.name.split(".")[0] if source.is_of_a_service else "*"
    return any(source.lies_in(module.replace("*", own)) for module in place.modules)


RULES: Final[tuple[Rule, ...]] = (a_client_is_used_in_its_one_place,)
