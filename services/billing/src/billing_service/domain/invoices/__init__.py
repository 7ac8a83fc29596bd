"""Invoices, one a payment, and credit notes, one a refund: numbered without a gap, as PDF and by mail."""

from .commands import (
    MailCreditNote,
    MailInvoice,
    RecordPlacedOrder,
    RecordRefund,
    RecordSettledPayment,
    RenderCreditNote,
    RenderInvoice,
)
from .credit import Refund
from .credit_note_delivery import CreditNoteDelivery
from .credit_note_table import CreditNoteTable
from .delivery import InvoiceDelivery
from .delivery_table import DeliveryTable
from .errors import (
    CreditNoteNotFound,
    DocumentNotReady,
    InvoiceNotFound,
    OrderNotComplete,
    PaidAmountDiffers,
    RefundExceedsInvoice,
)
from .gathering import GatheredOrderTable
from .invoice_table import InvoiceTable
from .job_kinds import DELIVER_CREDIT_NOTE, DELIVER_INVOICE, DeliverCreditNotePayload, DeliverInvoicePayload
from .letters import LETTERS
from .mailer import Mail, MailboxUnavailable, Mailer, MailNotSent, MailRefused, MailUnavailable
from .models import InvoiceLine, PlacedHalf, SettledHalf, language_of
from .queries import CreditNoteQueries, InvoiceQueries
from .service import InvoiceService
from .tables import OF_CREDIT_NOTES, OF_INVOICES, metadata
from .views import CreditNoteView, InvoiceView

__all__ = [
    "DELIVER_CREDIT_NOTE",
    "DELIVER_INVOICE",
    "LETTERS",
    "OF_CREDIT_NOTES",
    "OF_INVOICES",
    "CreditNoteDelivery",
    "CreditNoteNotFound",
    "CreditNoteQueries",
    "CreditNoteTable",
    "CreditNoteView",
    "DeliverCreditNotePayload",
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
    "MailCreditNote",
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
    "RecordRefund",
    "RecordSettledPayment",
    "Refund",
    "RefundExceedsInvoice",
    "RenderCreditNote",
    "RenderInvoice",
    "SettledHalf",
    "language_of",
    "metadata",
]
