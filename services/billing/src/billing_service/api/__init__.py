"""The HTTP routes of this service."""

from .invoices import invoices_router

__all__ = ["invoices_router"]
