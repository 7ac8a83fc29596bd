"""Orders: placed once a request, and the story of each."""

from . import limits
from .commands import (
    CancelOrder,
    ExpireOrders,
    MarkCancelled,
    MarkDeclined,
    MarkPaid,
    PlaceOrder,
    RecordCreditNote,
    RecordInvoice,
    RecordRefund,
)
from .errors import OrderNotFound, OrderStateConflict, RefundNotPossible, TotalTooLarge, UnknownCurrency
from .models import CancelReason, OrderLine, OrderStatus, total_of
from .order_table import OrderTable
from .queries import OrderQueries
from .service import OrderService
from .tables import metadata
from .views import OrderLineView, OrderView, TimelineEntryView

__all__ = [
    "CancelOrder",
    "CancelReason",
    "ExpireOrders",
    "MarkCancelled",
    "MarkDeclined",
    "MarkPaid",
    "OrderLine",
    "OrderLineView",
    "OrderNotFound",
    "OrderQueries",
    "OrderService",
    "OrderStateConflict",
    "OrderStatus",
    "OrderTable",
    "OrderView",
    "PlaceOrder",
    "RecordCreditNote",
    "RecordInvoice",
    "RecordRefund",
    "RefundNotPossible",
    "TimelineEntryView",
    "TotalTooLarge",
    "UnknownCurrency",
    "limits",
    "metadata",
    "total_of",
]
