"""The HTTP routes of this service."""

from .credit_notes import credit_notes_router
from .invoices import invoices_router

__all__ = ["credit_notes_router", "invoices_router"]
