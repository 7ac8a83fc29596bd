"""The HTTP routes of this service."""

from .payments import payments_router
from .refunds import refunds_router
from .webhooks import webhooks_router

__all__ = ["payments_router", "refunds_router", "webhooks_router"]
