"""The only composition root: what each kind of process of the payment service is made of.

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

from .domain.payments import CardProvider, PaymentQueries, PaymentService, PaymentTable
from .integrations import StripeCardProvider
from .jobs import CapturePayment
from .reactors import OpenPaymentOnOrderPlaced
from .settings import PaymentSettings

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True, slots=True)
class Work:
    """What a process does until it is told to stop, and whether it can do it."""

    body: Body
    ready: Callable[[], bool]


def payment_service(database: Database, provider: CardProvider) -> PaymentService:
    """The use cases, on these parts."""
    return PaymentService(database, PaymentTable(), provider, EventBus("payment"))


def build_api(settings: PaymentSettings) -> FastAPI:
    """The HTTP application. It only reads, so it commits nothing that a relay should hear of."""
    from service_platform.http import create_app, database_answers

    from .api import payments_router

    database = _database(settings, "api")
    return create_app(
        settings,
        title="Payment",
        routers=[payments_router(PaymentQueries(database, PaymentTable()))],
        checks={"database": database_answers(database)},
        closing=[database.close],
    )


def build_relay(settings: PaymentSettings) -> Work:
    """Events to Kafka and jobs to Celery, in tasks of their own: an outage of one does not stop the other."""
    database = _database(settings, "relay")
    kafka = KafkaSink(settings.kafka_bootstrap_servers, client_id="payment-relay")
    celery = CelerySink(broker_of(settings), database)
    events = Relay(database, channel="kafka", sink=kafka)
    jobs = Relay(database, channel="celery", sink=celery)

    async def body(stop: asyncio.Event) -> None:
        async with contextlib.AsyncExitStack() as closing:
            for close in (database.close, celery.close, kafka.close):
                closing.push_async_callback(close)
            await run_together(stop, events.run, jobs.run)

    return Work(body, lambda: events.ready and jobs.ready)


def build_consumer(settings: PaymentSettings) -> Work:
    """What others tell, and the wake-up of the relay for what that leads to."""
    database = _database(settings, "consumer")
    provider = _card_provider(settings)
    consumers = [OpenPaymentOnOrderPlaced(payment_service(database, provider))]
    engine = ConsumerEngine(
        database,
        consumers=consumers,
        group=settings.service_name,
        bootstrap_servers=settings.kafka_bootstrap_servers,
    )
    wake_up = WakeUp(database)

    async def body(stop: asyncio.Event) -> None:
        async with contextlib.AsyncExitStack() as closing:
            for close in (database.close, provider.close):
                closing.push_async_callback(close)
            await run_together(stop, engine.run, wake_up.run)

    return Work(body, lambda: engine.ready)


def build_processors(settings: PaymentSettings) -> Processors:
    """The processors of a worker; each of its children builds them on a database and a provider client of its own."""

    @contextlib.asynccontextmanager
    async def processors(database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
        provider = _card_provider(settings)
        try:
            yield [CapturePayment(payment_service(database, provider))]
        finally:
            await provider.close()

    return processors


def build_scheduler(settings: PaymentSettings) -> Work:
    """Jobs whose hint was lost, or whose worker is gone, are sent again."""
    database = _database(settings, "scheduler")
    sweep = JobSweep(database, interval_seconds=settings.job_sweep_interval_seconds)

    async def body(stop: asyncio.Event) -> None:
        try:
            await sweep.run(stop)
        finally:
            await database.close()

    return Work(body, lambda: True)


def _database(settings: PaymentSettings, process: str) -> Database:
    return Database(
        settings.database_address(),
        application_name=f"{settings.service_name} {process}",
        pool_size=settings.database_pool_size,
    )


def _card_provider(settings: PaymentSettings) -> StripeCardProvider:
    return StripeCardProvider(api_key=settings.stripe_api_key.get_secret_value(), api_base=settings.stripe_api_base)
