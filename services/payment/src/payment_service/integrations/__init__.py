"""The outside world, each part behind a port of the domain. The only place with its clients."""

from .card_provider import StripeCardProvider

__all__ = ["StripeCardProvider"]
