"""What order reads of payment's events."""

from .payment_cancelled import PaymentCancelled
from .payment_declined import PaymentDeclined
from .payment_refunded import PaymentRefunded
from .payment_settled import PaymentSettled

__all__ = ["PaymentCancelled", "PaymentDeclined", "PaymentRefunded", "PaymentSettled"]
