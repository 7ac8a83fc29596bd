"""Orders: placed once a request, and the story of each."""

from . import limits
from .commands import (
    CancelOrder,
    ExpireUnpaidOrders,
    MarkCancelled,
    MarkDeclined,
    MarkPaid,
    PlaceOrder,
    RecordCreditNote,
    RecordInvoice,
    RecordRefund,
)
from .errors import OrderNotFound, OrderStateConflict, RefundNotPossible, TotalTooLarge, UnknownCurrency
from .job_kinds import EXPIRE_ORDERS, ExpireOrdersPayload
from .models import CancelReason, OrderFilter, OrderLine, OrderStatus, total_of
from .order_table import OrderTable
from .queries import OrderQueries
from .service import OrderService
from .tables import metadata
from .views import OrderLineView, OrderView, TimelineEntryView

__all__ = [
    "EXPIRE_ORDERS",
    "CancelOrder",
    "CancelReason",
    "ExpireOrdersPayload",
    "ExpireUnpaidOrders",
    "MarkCancelled",
    "MarkDeclined",
    "MarkPaid",
    "OrderFilter",
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
