"""The card provider's signature under what it tells."""

from __future__ import annotations

import json
from typing import Any, Final

import stripe

from payment_service.domain.payments import Hint, WebhookRefused

WINDOW_SECONDS: Final = 300
"""How old a signature may be. A recorded webhook that is played back later is refused."""

_LONGEST_ID: Final = 200


class StripeWebhooks:
    """`WebhookVerifier` with the SDK's own check (https://docs.stripe.com/webhooks/signature)."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def verified(self, payload: bytes, signature: str) -> Hint:
        try:
            stripe.WebhookSignature.verify_header(payload, signature, self._secret, WINDOW_SECONDS)
            event = json.loads(payload)
            return Hint(
                event_id=_id(event["id"]), type=_id(event["type"]), intent_id=_intent_in(event["data"]["object"])
            )
        except (stripe.SignatureVerificationError, ValueError, KeyError, TypeError):
            # Without its cause: that one carries the whole body.
            raise WebhookRefused from None


def _intent_in(subject: Any) -> str | None:
    """The intent that an event is about: it is one, or names one as charges, refunds and disputes do."""
    if subject.get("object") == "payment_intent":
        return _id(subject["id"])
    named = subject.get("payment_intent")
    return _id(named) if named is not None else None


def _id(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_ID or "\0" in value:
        raise ValueError
    return value
