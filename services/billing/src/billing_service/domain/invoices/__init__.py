"""Invoices: one a payment, numbered without a gap, as PDF and by mail."""

from .commands import MailInvoice, RecordPlacedOrder, RecordSettledPayment, RenderInvoice
from .delivery import InvoiceDelivery
from .delivery_table import DeliveryTable
from .errors import DocumentNotReady, InvoiceNotFound, OrderNotComplete, PaidAmountDiffers
from .gathering import GatheredOrderTable
from .invoice_table import InvoiceTable
from .job_kinds import DELIVER_INVOICE, DeliverInvoicePayload
from .letters import LETTERS
from .mailer import Mail, MailboxUnavailable, Mailer, MailNotSent, MailRefused, MailUnavailable
from .models import InvoiceLine, PlacedHalf, SettledHalf, language_of
from .queries import InvoiceQueries
from .service import InvoiceService
from .tables import metadata
from .views import InvoiceView

__all__ = [
    "DELIVER_INVOICE",
    "LETTERS",
    "DeliverInvoicePayload",
    "DeliveryTable",
    "DocumentNotReady",
    "GatheredOrderTable",
    "InvoiceDelivery",
    "InvoiceLine",
    "InvoiceNotFound",
    "InvoiceQueries",
    "InvoiceService",
    "InvoiceTable",
    "InvoiceView",
    "Mail",
    "MailInvoice",
    "MailNotSent",
    "MailRefused",
    "MailUnavailable",
    "MailboxUnavailable",
    "Mailer",
    "OrderNotComplete",
    "PaidAmountDiffers",
    "PlacedHalf",
    "RecordPlacedOrder",
    "RecordSettledPayment",
    "RenderInvoice",
    "SettledHalf",
    "language_of",
    "metadata",
]
