"""What this capability refuses, and what it cannot answer yet.

Exception
├── errors.NotFound
│   └── PaymentNotFound         no payment has this id
├── AnswerPending               the provider has not decided; the payment stays open and is asked again later
└── provider.ProviderError      see `provider.py`
"""

from __future__ import annotations

from uuid import UUID

from service_platform.errors import NotFound

from .messages import MESSAGES


class PaymentNotFound(NotFound, messages=MESSAGES):
    """No payment has this id."""

    slug = "payment-not-found"

    def __init__(self, payment_id: UUID) -> None:
        super().__init__(payment_id=str(payment_id))


class AnswerPending(Exception):
    """The stored intent has no final answer yet. Ends the run as failed, so that its job asks again after a backoff."""
