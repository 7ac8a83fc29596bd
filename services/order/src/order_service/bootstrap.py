"""The only composition root: what each kind of process of the order service is made of.

Nothing is built at import, and what only the API needs is not even imported elsewhere: FastAPI is a third of the time
that a process takes to start. Tests compose the same parts with others at the edges.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from service_platform.database import Database
from service_platform.event_bus import ConsumerEngine, EventBus, KafkaSink
from service_platform.jobs import CelerySink, FencedProcessor, JobSweep, Processors, broker_of
from service_platform.outbox import Relay, WakeUp
from service_platform.process import Body, run_together

from .domain.orders import OrderQueries, OrderService, OrderTable
from .reactors import MarkDeclinedOnPaymentDeclined, MarkPaidOnPaymentSettled, RecordInvoiceOnInvoiceIssued
from .settings import OrderSettings

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True, slots=True)
class Work:
    """What a process does until it is told to stop, and whether it can do it."""

    body: Body
    ready: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Api:
    """The HTTP application, and what runs beside it."""

    app: FastAPI
    beside: Sequence[Body]


def order_service(database: Database) -> OrderService:
    """The use cases, on these parts."""
    return OrderService(database, OrderTable(), EventBus("order"))


def build_api(settings: OrderSettings) -> Api:
    """The HTTP application, and the wake-up of the relay for the orders that it places."""
    from service_platform.http import create_app, database_answers

    from .api import orders_router

    database = _database(settings, "api")
    app = create_app(
        settings,
        title="Order",
        routers=[orders_router(order_service(database), OrderQueries(database))],
        checks={"database": database_answers(database)},
        closing=[database.close],
    )
    return Api(app, beside=[WakeUp(database).run])


def build_relay(settings: OrderSettings) -> Work:
    """Events to Kafka and jobs to Celery, in tasks of their own: an outage of one does not stop the other."""
    database = _database(settings, "relay")
    kafka = KafkaSink(settings.kafka_bootstrap_servers, client_id="order-relay")
    celery = CelerySink(broker_of(settings), database)
    events = Relay(database, channel="kafka", sink=kafka)
    jobs = Relay(database, channel="celery", sink=celery)

    async def body(stop: asyncio.Event) -> None:
        async with contextlib.AsyncExitStack() as closing:
            for close in (database.close, celery.close, kafka.close):
                closing.push_async_callback(close)
            await run_together(stop, events.run, jobs.run)

    return Work(body, lambda: events.ready and jobs.ready)


def build_consumer(settings: OrderSettings) -> Work:
    """What others tell. Nothing of this publishes, so no relay waits to hear of it."""
    database = _database(settings, "consumer")
    orders = order_service(database)
    engine = ConsumerEngine(
        database,
        consumers=[
            MarkPaidOnPaymentSettled(orders),
            MarkDeclinedOnPaymentDeclined(orders),
            RecordInvoiceOnInvoiceIssued(orders),
        ],
        group=settings.service_name,
        bootstrap_servers=settings.kafka_bootstrap_servers,
    )

    async def body(stop: asyncio.Event) -> None:
        try:
            await engine.run(stop)
        finally:
            await database.close()

    return Work(body, lambda: engine.ready)


def build_processors(settings: OrderSettings) -> Processors:
    """The processors of a worker: none so far, since nothing about an order happens after its commit."""
    del settings

    @contextlib.asynccontextmanager
    async def processors(_database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
        yield []

    return processors


def build_scheduler(settings: OrderSettings) -> Work:
    """Jobs whose hint was lost, or whose worker is gone, are sent again."""
    database = _database(settings, "scheduler")
    sweep = JobSweep(database, interval_seconds=settings.job_sweep_interval_seconds)

    async def body(stop: asyncio.Event) -> None:
        try:
            await sweep.run(stop)
        finally:
            await database.close()

    return Work(body, lambda: True)


def _database(settings: OrderSettings, process: str) -> Database:
    return Database(
        settings.database_address(),
        application_name=f"{settings.service_name} {process}",
        pool_size=settings.database_pool_size,
    )
