"""What this service does when others tell something."""

from .cancel_payment import CancelPaymentOnOrderCancelRequested
from .open_payment import OpenPaymentOnOrderPlaced

__all__ = ["CancelPaymentOnOrderCancelRequested", "OpenPaymentOnOrderPlaced"]
