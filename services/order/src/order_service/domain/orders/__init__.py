"""Orders: placed once a request, and the story of each."""

from . import limits
from .commands import MarkDeclined, MarkPaid, PlaceOrder, RecordInvoice
from .errors import OrderNotFound, OrderStateConflict, TotalTooLarge, UnknownCurrency
from .models import OrderLine, OrderStatus, total_of
from .queries import OrderQueries
from .service import OrderService
from .table import OrderTable, metadata
from .views import OrderLineView, OrderView, TimelineEntryView

__all__ = [
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
    "RecordInvoice",
    "TimelineEntryView",
    "TotalTooLarge",
    "UnknownCurrency",
    "limits",
    "metadata",
    "total_of",
]
