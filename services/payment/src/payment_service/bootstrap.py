"""The only composition root: what the API, consumer and worker of the payment service are made of.

Its relay and scheduler are as everywhere: `service_platform.bootstrap`.

Nothing is built at import, and what only the API needs is not even imported elsewhere: FastAPI is a third of the time
that a process takes to start. Tests compose the same parts with others at the edges.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from service_platform.bootstrap import open_database, run_consumers, with_housekeeping
from service_platform.database import Database
from service_platform.event_bus import EventBus
from service_platform.jobs import FencedProcessor, Processors
from service_platform.process import Work

from .domain.payments import CardProvider, PaymentQueries, PaymentService, PaymentTable
from .integrations import StripeCardProvider
from .jobs import CapturePayment
from .reactors import OpenPaymentOnOrderPlaced
from .settings import PaymentSettings
from .ticks import JOB_TICKS

if TYPE_CHECKING:
    from fastapi import FastAPI


def payment_service(database: Database, provider: CardProvider) -> PaymentService:
    """The use cases, on these parts."""
    return PaymentService(database, PaymentTable(), provider, EventBus("payment"))


def build_api(settings: PaymentSettings) -> FastAPI:
    """The HTTP application. Only operators change anything through it, and for them the relay's next poll will do."""
    from service_platform.http import create_app, database_answers
    from service_platform.operations import operator_actions
    from service_platform.ops import ActionRunner
    from service_platform.ops.routes import operator_routes

    from .api import payments_router

    database = open_database(settings, "api")
    return create_app(
        settings,
        title="Payment",
        routers=[
            payments_router(PaymentQueries(database, PaymentTable())),
            operator_routes(operator_actions(JOB_TICKS), ActionRunner(database, settings.service_name)),
        ],
        checks={"database": database_answers(database)},
        closing=[database.close],
    )


def build_consumer(settings: PaymentSettings) -> Work:
    """What others tell."""
    database = open_database(settings, "consumer")
    provider = _card_provider(settings)
    consumers = [OpenPaymentOnOrderPlaced(payment_service(database, provider))]
    return run_consumers(settings, database, consumers, closing=[provider.close])


def build_processors(settings: PaymentSettings) -> Processors:
    """The processors of a worker; each of its children builds them on a database and a provider client of its own."""

    @contextlib.asynccontextmanager
    async def processors(database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
        provider = _card_provider(settings)
        try:
            yield [CapturePayment(payment_service(database, provider))]
        finally:
            await provider.close()

    return with_housekeeping(settings, processors)


def _card_provider(settings: PaymentSettings) -> StripeCardProvider:
    return StripeCardProvider(api_key=settings.stripe_api_key.get_secret_value(), api_base=settings.stripe_api_base)
