"""The HTTP routes of this service."""

from .orders import orders_router

__all__ = ["orders_router"]
