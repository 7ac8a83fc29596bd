"""The outside world, each part behind a port of the domain. The only place with its clients."""

from .card_provider import StripeCardProvider
from .webhook_signature import StripeWebhooks

__all__ = ["StripeCardProvider", "StripeWebhooks"]
