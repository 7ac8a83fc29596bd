"""What payment reads of the order service."""

from .order_cancel_requested import OrderCancelRequested
from .order_placed import OrderPlaced

__all__ = ["OrderCancelRequested", "OrderPlaced"]
