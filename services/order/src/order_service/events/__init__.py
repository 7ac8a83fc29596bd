"""What order tells the other services; under `payment/` and `billing/` what it reads of them."""

from .order_placed import OrderPlaced, OrderPlacedLine

__all__ = ["OrderPlaced", "OrderPlacedLine"]
