"""What payment tells the other services, and under `order/` what it reads of them."""

from .payment_declined import PaymentDeclined
from .payment_settled import PaymentSettled

__all__ = ["PaymentDeclined", "PaymentSettled"]
