"""What payment reads of the order service."""

from .order_placed import OrderPlaced

__all__ = ["OrderPlaced"]
