"""The part of a service's composition that is the same in every one: database, relay, scheduler, consumer engine,
and the jobs that every worker runs.

A service's own `bootstrap.py` composes the rest: its API, its consumers and its job processors.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

from service_platform.database import Database
from service_platform.event_bus import Consumer, ConsumerEngine, KafkaSink
from service_platform.housekeeping import Retention, housekeeping_processors
from service_platform.inbox import OverdueRetries, RetryLedger, RetryPolicy
from service_platform.jobs import CelerySink, FencedProcessor, JobSweep, Processors, broker_of
from service_platform.outbox import Relay, WakeUp
from service_platform.process import Work, run_together
from service_platform.settings import ServiceSettings
from service_platform.ticks import JobTicks, Ticker, checked


def open_database(settings: ServiceSettings, process: str) -> Database:
    """The service's database as the app role, with connections named after the kind of process."""
    return Database(
        settings.database_address(),
        application_name=f"{settings.service_name} {process}",
        pool_size=settings.database_pool_size,
    )


def build_relay(settings: ServiceSettings) -> Work:
    """Events to Kafka and jobs to Celery, in tasks of their own: an outage of one does not stop the other."""
    database = open_database(settings, "relay")
    servers, security = settings.kafka_bootstrap_servers, settings.kafka_security()
    kafka = KafkaSink(servers, client_id=f"{settings.service_name}-relay", security=security)
    second = KafkaSink(servers, client_id=f"{settings.service_name}-relay-2", security=security)
    celery = CelerySink(broker_of(settings), database, resend_after_seconds=settings.job_resend_after_seconds)
    events = Relay(database, channel="kafka", sink=kafka, second_sink=second)
    jobs = Relay(database, channel="celery", sink=celery)

    async def body(stop: asyncio.Event) -> None:
        async with contextlib.AsyncExitStack() as closing:
            for close in (database.close, celery.close, second.close, kafka.close):
                closing.push_async_callback(close)
            await run_together(stop, events.run, events.assist, jobs.run)

    return Work(body, lambda: events.ready and jobs.ready)


def run_consumers(
    settings: ServiceSettings,
    database: Database,
    consumers: Sequence[Consumer[Any]],
    *,
    closing: Sequence[Callable[[], Awaitable[None]]] = (),
) -> Work:
    """The consumers of a service, and the wake-up of its relay for what they publish and retry.

    `closing` are called at the end, before the database is closed.
    """
    engine = ConsumerEngine(
        database,
        consumers=consumers,
        service=settings.service_name,
        bootstrap_servers=settings.kafka_bootstrap_servers,
        security=settings.kafka_security(),
        concurrency=settings.database_pool_size,
        retry=RetryPolicy(settings.event_retry_first_seconds, settings.event_retry_limit_seconds),
        inbox_retention=timedelta(days=settings.inbox_retention_days),
    )
    wake_up = WakeUp(database)

    async def body(stop: asyncio.Event) -> None:
        async with contextlib.AsyncExitStack() as stack:
            for close in (database.close, *closing):
                stack.push_async_callback(close)
            await run_together(stop, engine.run, wake_up.run)

    return Work(body, lambda: engine.ready)


def build_scheduler(settings: ServiceSettings, ticks: JobTicks) -> Work:
    """Fires the service's ticks, and sends again what a broker or a worker lost.

    The two loops that repair do it by SQL of their own, not by a tick's job, which would need what they mend.
    """
    database = open_database(settings, "scheduler")
    ticker = Ticker(database, checked(ticks, settings.service_name), look_seconds=settings.tick_look_seconds)
    sweep = JobSweep(
        database,
        resend_after_seconds=settings.job_resend_after_seconds,
        interval_seconds=settings.job_sweep_interval_seconds,
    )
    ledger = RetryLedger(database, settings.service_name)
    overdue = OverdueRetries(ledger, interval_seconds=settings.event_wake_interval_seconds)

    async def body(stop: asyncio.Event) -> None:
        try:
            await run_together(stop, ticker.run, sweep.run, overdue.run)
        finally:
            await database.close()

    return Work(body, lambda: ticker.ready)


def with_housekeeping(settings: ServiceSettings, processors: Processors) -> Processors:
    """The service's own processors, and those of the jobs that `housekeeping_ticks` start."""
    retention = Retention(
        outbox=timedelta(days=settings.outbox_retention_days),
        inbox=timedelta(days=settings.inbox_retention_days),
        idempotency_keys=timedelta(days=settings.idempotency_retention_days),
        jobs=timedelta(days=settings.job_retention_days),
    )

    @contextlib.asynccontextmanager
    async def both(database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
        async with processors(database) as own:
            yield [*own, *housekeeping_processors(settings.service_name, database, retention)]

    return both
