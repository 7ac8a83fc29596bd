"""What billing reads of payment's events."""

from .payment_refunded import PaymentRefunded
from .payment_settled import PaymentSettled

__all__ = ["PaymentRefunded", "PaymentSettled"]
