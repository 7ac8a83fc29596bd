"""The HTTP routes of this service."""

from .payments import payments_router

__all__ = ["payments_router"]
