"""Work that happens after a commit: processors and their steps."""

from .deliver_credit_note import DeliverCreditNote
from .deliver_invoice import DeliverInvoice

__all__ = ["DeliverCreditNote", "DeliverInvoice"]
