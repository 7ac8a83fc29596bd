"""The only composition root: what the API, consumer and worker of the payment service are made of.

Its relay and scheduler are as everywhere: `service_platform.bootstrap`.

Nothing is built at import, and what only the API needs is not even imported elsewhere: FastAPI is a third of the time
that a process takes to start. Tests compose the same parts with others at the edges.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from service_platform.bootstrap import open_database, run_consumers, with_housekeeping
from service_platform.database import Database
from service_platform.event_bus import Consumer, EventBus
from service_platform.jobs import FencedProcessor, Processors
from service_platform.outbox import WakeUp
from service_platform.process import Body, Work

from .domain.payments import (
    CardProvider,
    CheckService,
    HintTable,
    PaymentQueries,
    PaymentService,
    PaymentTable,
    ReconcileService,
    RefundService,
    RefundTable,
    ReviewService,
    Transitions,
)
from .integrations import StripeCardProvider, StripeWebhooks
from .jobs import CancelOrphanIntent, CapturePayment, CheckPaymentIntent, ReconcilePayments, RefundPayment
from .reactors import CancelPaymentOnOrderCancelRequested, OpenPaymentOnOrderPlaced
from .settings import PaymentSettings

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True, slots=True)
class Api:
    """The HTTP application, and what runs beside it."""

    app: FastAPI
    beside: Sequence[Body]


@dataclass(frozen=True, slots=True)
class Services:
    """The use cases, on the same parts."""

    payments: PaymentService
    refunds: RefundService
    checks: CheckService
    reconcile: ReconcileService
    reviews: ReviewService

    def processors(self) -> list[FencedProcessor[Any]]:
        """What a worker runs with them."""
        return [
            CapturePayment(self.payments),
            RefundPayment(self.refunds),
            CheckPaymentIntent(self.checks),
            CancelOrphanIntent(self.checks),
            ReconcilePayments(self.reconcile),
        ]


def build_services(database: Database, provider: CardProvider) -> Services:
    """The use cases, on these parts."""
    payments, refunds, hints = PaymentTable(), RefundTable(), HintTable()
    transitions = Transitions(payments, refunds, EventBus("payment"))
    return Services(
        payments=PaymentService(database, payments, provider, transitions),
        refunds=RefundService(database, payments, refunds, provider, transitions),
        checks=CheckService(database, payments, refunds, hints, provider=provider, transitions=transitions),
        reconcile=ReconcileService(database, payments, hints, provider),
        reviews=ReviewService(database, payments, refunds, provider, transitions),
    )


def build_api(settings: PaymentSettings) -> Api:
    """The HTTP application, and the wake-up of the relay for the jobs of refunds and webhooks."""
    from service_platform.http import create_app, database_answers
    from service_platform.ops import ActionRunner
    from service_platform.ops.routes import operator_routes

    from .api import payments_router, refunds_router, webhooks_router
    from .operations import ACTIONS

    database = open_database(settings, "api")
    provider = _card_provider(settings)
    services = build_services(database, provider)
    queries = PaymentQueries(database, PaymentTable(), RefundTable())
    webhooks = StripeWebhooks(settings.stripe_webhook_secret.get_secret_value())
    app = create_app(
        settings,
        title="Payment",
        routers=[
            payments_router(queries),
            refunds_router(services.refunds, queries),
            webhooks_router(services.checks, webhooks),
            operator_routes(ACTIONS, ActionRunner(database, settings.service_name, outside=services.reviews)),
        ],
        checks={"database": database_answers(database)},
        closing=[provider.close, database.close],
    )
    return Api(app, beside=[WakeUp(database).run])


def build_consumer(settings: PaymentSettings) -> Work:
    """What others tell."""
    database = open_database(settings, "consumer")
    provider = _card_provider(settings)
    payments = build_services(database, provider).payments
    consumers: list[Consumer[Any]] = [
        OpenPaymentOnOrderPlaced(payments),
        CancelPaymentOnOrderCancelRequested(payments),
    ]
    return run_consumers(settings, database, consumers, closing=[provider.close])


def build_processors(settings: PaymentSettings) -> Processors:
    """The processors of a worker; each of its children builds them on a database and a provider client of its own."""

    @contextlib.asynccontextmanager
    async def processors(database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
        provider = _card_provider(settings)
        try:
            yield build_services(database, provider).processors()
        finally:
            await provider.close()

    return with_housekeeping(settings, processors)


@contextlib.asynccontextmanager
async def open_reviews(settings: PaymentSettings, database: Database) -> AsyncIterator[ReviewService]:
    """What the operators' command decides with."""
    provider = _card_provider(settings)
    try:
        yield build_services(database, provider).reviews
    finally:
        await provider.close()


def _card_provider(settings: PaymentSettings) -> StripeCardProvider:
    return StripeCardProvider(api_key=settings.stripe_api_key.get_secret_value(), api_base=settings.stripe_api_base)
