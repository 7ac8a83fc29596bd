"""What billing reads of order's events."""

from .order_placed import OrderPlaced

__all__ = ["OrderPlaced"]
