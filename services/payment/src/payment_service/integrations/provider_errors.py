"""What each error of the card provider means to us, in one table: ask again, declined, look first, or a person."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import stripe

from payment_service.domain.payments import (
    CardDeclined,
    FailureKept,
    IntentStateConflict,
    NeedsReview,
    ProviderError,
    ProviderUnavailable,
)

LONGEST_CODE: Final = 100
"""What fits the reason of a payment; the codes of the API are far shorter."""


class Verdict(Enum):
    """What an error says about the call's effect, and about a repetition."""

    RETRY = "nothing is known about the effect, or it may succeed later: ask again, with the same key"
    DECLINE = "the card or payment method was refused: no money moved by this call"
    STATE = "the intent's state does not allow the call: read it"
    REVIEW = "the request itself is refused, always: a person has to look"


@dataclass(frozen=True, slots=True)
class Rule:
    """Errors of `kind`, narrowed by the provider's `code` or the parameter that it names."""

    kind: type[stripe.StripeError]
    verdict: Verdict
    code: str | None = None
    param: str | None = None

    def covers(self, error: stripe.StripeError) -> bool:
        return (
            isinstance(error, self.kind)
            and (self.code is None or self.code == error.code)
            and (self.param is None or self.param == getattr(error, "param", None))
        )


RULES: Final = (
    Rule(stripe.CardError, Verdict.DECLINE),
    Rule(stripe.InvalidRequestError, Verdict.STATE, code="payment_intent_unexpected_state"),
    Rule(stripe.InvalidRequestError, Verdict.DECLINE, param="payment_method"),
    # Our own balance or the provider's lock; both pass.
    Rule(stripe.InvalidRequestError, Verdict.RETRY, code="balance_insufficient"),
    Rule(stripe.InvalidRequestError, Verdict.RETRY, code="lock_timeout"),
    # One key for two requests: a fault of ours, which no repetition mends.
    Rule(stripe.IdempotencyError, Verdict.REVIEW),
    Rule(stripe.InvalidRequestError, Verdict.REVIEW),
    # No connection, no answer, 5xx, 429, 409 (the key is in use), 401 and 403 (a person mends the settings meanwhile).
    Rule(stripe.StripeError, Verdict.RETRY),
)
"""The first rule that covers an error decides."""


def verdict_of(error: stripe.StripeError) -> Verdict:
    """What the table says."""
    return next(rule.verdict for rule in RULES if rule.covers(error))


def sorted_error(what: str, error: stripe.StripeError) -> ProviderError:
    """The error of a call (`what`: its name, for the text) as one of the domain's. Names neither card nor secret."""
    code = (error.code or "")[:LONGEST_CODE]
    match verdict_of(error):
        case Verdict.DECLINE:
            return CardDeclined(decline_code(error.error) or code or "card_declined")
        case Verdict.STATE:
            return IntentStateConflict(f"{what}: {code}")
        case Verdict.REVIEW:
            return NeedsReview(
                code or ("idempotency_error" if isinstance(error, stripe.IdempotencyError) else "invalid_request")
            )
        case Verdict.RETRY:
            if _is_replay(error):
                return FailureKept(code or f"http_{error.http_status}")
            status = error.http_status or "without an answer"
            return ProviderUnavailable(f"{what}: {type(error).__name__}, {status} {code}".rstrip())


def decline_code(error: stripe.ErrorObject | stripe.PaymentIntent.LastPaymentError | None) -> str | None:
    """Why the card was refused, as exactly as the provider says it; it leaves out what does not apply."""
    code = getattr(error, "decline_code", None) or getattr(error, "code", None)
    return str(code)[:LONGEST_CODE] if code else None


def _is_replay(error: stripe.StripeError) -> bool:
    """Whether the provider says that this is the answer that it keeps for the key."""
    headers: Any = error.headers or {}
    return str(headers.get("idempotent-replayed", "")).lower() == "true"
