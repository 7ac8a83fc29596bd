"""What payment tells the other services, and under `order/` what it reads of them."""

from .payment_cancelled import PaymentCancelled
from .payment_declined import PaymentDeclined
from .payment_refunded import PaymentRefunded
from .payment_settled import PaymentSettled

__all__ = ["PaymentCancelled", "PaymentDeclined", "PaymentRefunded", "PaymentSettled"]
