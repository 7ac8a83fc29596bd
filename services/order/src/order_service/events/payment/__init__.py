"""What order reads of payment's events."""

from .payment_declined import PaymentDeclined
from .payment_settled import PaymentSettled

__all__ = ["PaymentDeclined", "PaymentSettled"]
