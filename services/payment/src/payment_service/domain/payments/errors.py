"""What this capability refuses, and what it cannot answer yet.

Exception
├── errors.NotFound
│   ├── PaymentNotFound         no payment has this id
│   └── RefundNotFound          the payment has no refund of this id
├── errors.Conflict
│   ├── PaymentNotSettled       nothing was captured, or it is not certain what
│   ├── RefundExceedsCapture    so much is not left to give back
│   └── review_errors.*         the provider's ledger does not allow what a person wants to decide
├── errors.Malformed
│   └── WebhookRefused          the provider did not sign this, or not in the last minutes
├── AnswerPending               the provider has not decided; the payment stays open and is asked again later
└── provider.ProviderError      see `provider.py`
"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from service_platform.errors import Conflict, Malformed, NotFound

from .messages import MESSAGES


class PaymentNotFound(NotFound, messages=MESSAGES):
    """No payment has this id."""

    slug = "payment-not-found"
    example: ClassVar = {"payment_id": "7d9e1c34-52b1-4a86-8f6e-91c0a3d5e7f2"}

    def __init__(self, payment_id: UUID) -> None:
        super().__init__(payment_id=str(payment_id))


class RefundNotFound(NotFound, messages=MESSAGES):
    """The payment has no refund of this id."""

    slug = "refund-not-found"
    example: ClassVar = {
        "payment_id": "7d9e1c34-52b1-4a86-8f6e-91c0a3d5e7f2",
        "refund_id": "5f7a8b9c-1d2e-4f3a-8b4c-5d6e7f8a9b0c",
    }


class PaymentNotSettled(Conflict, messages=MESSAGES):
    """Only money that was captured can be given back; `payment_status` is where the payment stands."""

    slug = "payment-not-settled"
    example: ClassVar = {"payment_id": "7d9e1c34-52b1-4a86-8f6e-91c0a3d5e7f2", "payment_status": "processing"}


class RefundExceedsCapture(Conflict, messages=MESSAGES):
    """What is asked is more than `refundable_minor`: captured, and not in any refund yet."""

    slug = "refund-exceeds-capture"
    example: ClassVar = {"payment_id": "7d9e1c34-52b1-4a86-8f6e-91c0a3d5e7f2", "refundable_minor": 1250}


class WebhookRefused(Malformed, messages=MESSAGES):
    """The signature is missing, wrong, or older than the window. Why exactly is nobody's business but ours."""

    slug = "webhook-refused"


class AnswerPending(Exception):
    """The intent or refund has no final answer yet. Ends the run as failed: its job asks again after a backoff."""
