"""What this service does when others tell something."""

from .open_payment import OpenPaymentOnOrderPlaced

__all__ = ["OpenPaymentOnOrderPlaced"]
