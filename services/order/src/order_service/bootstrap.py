"""The only composition root: what the API, consumer and worker of the order service are made of.

Its relay and scheduler are as everywhere: `service_platform.bootstrap`.

Nothing is built at import, and what only the API needs is not even imported elsewhere: FastAPI is a third of the time
that a process takes to start. Tests compose the same parts with others at the edges.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from service_platform.bootstrap import open_database, run_consumers, with_housekeeping
from service_platform.database import Database
from service_platform.event_bus import Consumer, EventBus
from service_platform.jobs import FencedProcessor, Processors
from service_platform.outbox import WakeUp
from service_platform.process import Body, Work

from .domain.orders import OrderQueries, OrderService, OrderTable
from .jobs import ExpireOrders
from .reactors import (
    MarkCancelledOnPaymentCancelled,
    MarkDeclinedOnPaymentDeclined,
    MarkPaidOnPaymentSettled,
    RecordCreditNoteOnCreditNoteIssued,
    RecordInvoiceOnInvoiceIssued,
    RecordRefundOnPaymentRefunded,
)
from .settings import OrderSettings
from .ticks import JOB_TICKS

if TYPE_CHECKING:
    from fastapi import FastAPI


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
    from service_platform.operations import operator_actions
    from service_platform.ops import ActionRunner
    from service_platform.ops.routes import operator_routes

    from .api import orders_router

    database = open_database(settings, "api")
    app = create_app(
        settings,
        title="Order",
        routers=[
            orders_router(order_service(database), OrderQueries(database)),
            operator_routes(operator_actions(JOB_TICKS), ActionRunner(database, settings.service_name)),
        ],
        checks={"database": database_answers(database)},
        closing=[database.close],
    )
    return Api(app, beside=[WakeUp(database).run])


def build_consumer(settings: OrderSettings) -> Work:
    """What others tell."""
    database = open_database(settings, "consumer")
    orders = order_service(database)
    consumers: list[Consumer[Any]] = [
        MarkPaidOnPaymentSettled(orders),
        MarkDeclinedOnPaymentDeclined(orders),
        MarkCancelledOnPaymentCancelled(orders),
        RecordRefundOnPaymentRefunded(orders),
        RecordInvoiceOnInvoiceIssued(orders),
        RecordCreditNoteOnCreditNoteIssued(orders),
    ]
    return run_consumers(settings, database, consumers)


def build_processors(settings: OrderSettings) -> Processors:
    """The processors of a worker; each of its children builds them on a database of its own."""

    @contextlib.asynccontextmanager
    async def processors(database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
        yield [ExpireOrders(order_service(database), timedelta(seconds=settings.payment_window_seconds))]

    return with_housekeeping(settings, processors)
