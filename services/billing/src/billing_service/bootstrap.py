"""The only composition root: what the API, consumer and worker of the billing service are made of.

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
from service_platform.event_bus import Consumer, EventBus
from service_platform.jobs import FencedProcessor, Processors
from service_platform.process import Work

from .domain.invoices import (
    OF_CREDIT_NOTES,
    OF_INVOICES,
    CreditNoteDelivery,
    CreditNoteQueries,
    CreditNoteTable,
    DeliveryTable,
    GatheredOrderTable,
    InvoiceDelivery,
    InvoiceQueries,
    InvoiceService,
    InvoiceTable,
    Mailer,
)
from .integrations import SmtpMailer
from .jobs import DeliverCreditNote, DeliverInvoice
from .reactors import (
    RecordPlacedOrderOnOrderPlaced,
    RecordRefundOnPaymentRefunded,
    RecordSettledPaymentOnPaymentSettled,
)
from .settings import BillingSettings
from .ticks import JOB_TICKS

if TYPE_CHECKING:
    from fastapi import FastAPI


def invoice_service(database: Database) -> InvoiceService:
    """The use cases of issuing, on these parts."""
    return InvoiceService(database, GatheredOrderTable(), InvoiceTable(), CreditNoteTable(), EventBus("billing"))


def invoice_delivery(database: Database, mailer: Mailer, settings: BillingSettings) -> InvoiceDelivery:
    """The use cases of delivering invoices, on these parts."""
    return InvoiceDelivery(
        database,
        DeliveryTable(OF_INVOICES),
        mailer,
        seller=settings.seller_name,
        mail_domain=settings.mail_sender.domain,
    )


def credit_note_delivery(database: Database, mailer: Mailer, settings: BillingSettings) -> CreditNoteDelivery:
    """The use cases of delivering credit notes, on these parts."""
    return CreditNoteDelivery(
        database,
        DeliveryTable(OF_CREDIT_NOTES),
        mailer,
        seller=settings.seller_name,
        mail_domain=settings.mail_sender.domain,
    )


def build_api(settings: BillingSettings) -> FastAPI:
    """The HTTP application. Only operators change anything through it, and for them the relay's next poll will do."""
    from service_platform.http import create_app, database_answers
    from service_platform.operations import operator_actions
    from service_platform.ops import ActionRunner
    from service_platform.ops.routes import operator_routes

    from .api import credit_notes_router, invoices_router

    database = open_database(settings, "api")
    return create_app(
        settings,
        title="Billing",
        routers=[
            invoices_router(InvoiceQueries(database)),
            credit_notes_router(CreditNoteQueries(database)),
            operator_routes(operator_actions(JOB_TICKS), ActionRunner(database, settings.service_name)),
        ],
        checks={"database": database_answers(database)},
        closing=[database.close],
    )


def build_consumer(settings: BillingSettings) -> Work:
    """What others tell."""
    database = open_database(settings, "consumer")
    invoices = invoice_service(database)
    consumers: list[Consumer[Any]] = [
        RecordPlacedOrderOnOrderPlaced(invoices),
        RecordSettledPaymentOnPaymentSettled(invoices),
        RecordRefundOnPaymentRefunded(invoices),
    ]
    return run_consumers(settings, database, consumers)


def build_processors(settings: BillingSettings) -> Processors:
    """The processors of a worker; each of its children builds them on a database and a mailer of its own.

    The worker enters this once before it forks, so rendering is prepared there and every child inherits it.
    """

    @contextlib.asynccontextmanager
    async def processors(database: Database) -> AsyncIterator[Sequence[FencedProcessor[Any]]]:
        mailer = _mailer(settings)
        delivery = invoice_delivery(database, mailer, settings)
        delivery.prepare()
        try:
            yield [DeliverInvoice(delivery), DeliverCreditNote(credit_note_delivery(database, mailer, settings))]
        finally:
            await mailer.close()

    return with_housekeeping(settings, processors)


def _mailer(settings: BillingSettings) -> SmtpMailer:
    return SmtpMailer(
        host=settings.smtp_host,
        port=settings.smtp_port,
        sender=settings.mail_sender,
        mailbox_url=settings.mailbox_api_url,
    )
