"""What billing reads of payment's events."""

from .payment_settled import PaymentSettled

__all__ = ["PaymentSettled"]
