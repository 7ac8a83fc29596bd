"""What order tells the other services; under `payment/` and `billing/` what it reads of them."""

from .order_cancel_requested import OrderCancelRequested
from .order_placed import OrderPlaced, OrderPlacedLine

__all__ = ["OrderCancelRequested", "OrderPlaced", "OrderPlacedLine"]
