"""The table that sorts the provider's errors; no stack, no I/O."""

from __future__ import annotations

from typing import Any

import pytest
import stripe

from payment_service.domain.payments import (
    CardDeclined,
    FailureKept,
    IntentStateConflict,
    NeedsReview,
    ProviderError,
    ProviderUnavailable,
)
from payment_service.integrations.provider_errors import RULES, Rule, Verdict, sorted_error, verdict_of


def refused(code: str | None = None, param: str | None = None, **more: Any) -> stripe.StripeError:
    return stripe.InvalidRequestError("no", param, code, http_status=400, **more)


DECIDED = [
    (stripe.CardError("no", None, "card_declined", http_status=402), Verdict.DECLINE, CardDeclined),
    (refused("resource_missing", "payment_method"), Verdict.DECLINE, CardDeclined),
    (refused("payment_intent_unexpected_state"), Verdict.STATE, IntentStateConflict),
    (refused("balance_insufficient"), Verdict.RETRY, ProviderUnavailable),
    (refused("lock_timeout"), Verdict.RETRY, ProviderUnavailable),
    (refused("amount_too_large", "amount"), Verdict.REVIEW, NeedsReview),
    (refused("resource_missing", "intent"), Verdict.REVIEW, NeedsReview),
    (refused("charge_already_refunded"), Verdict.REVIEW, NeedsReview),
    (refused(), Verdict.REVIEW, NeedsReview),
    (stripe.IdempotencyError("two bodies", http_status=400), Verdict.REVIEW, NeedsReview),
    (stripe.APIConnectionError("gone"), Verdict.RETRY, ProviderUnavailable),
    (stripe.APIError("broken", http_status=500), Verdict.RETRY, ProviderUnavailable),
    (stripe.APIError("key in use", http_status=409), Verdict.RETRY, ProviderUnavailable),
    (stripe.RateLimitError("slow down", http_status=429), Verdict.RETRY, ProviderUnavailable),
    (stripe.AuthenticationError("who are you", http_status=401), Verdict.RETRY, ProviderUnavailable),
    (stripe.PermissionError("not you", http_status=403), Verdict.RETRY, ProviderUnavailable),
]


@pytest.mark.parametrize(("error", "verdict", "becomes"), DECIDED, ids=lambda value: getattr(value, "__name__", None))
def test_each_error_has_its_verdict(error: stripe.StripeError, verdict: Verdict, becomes: type[ProviderError]) -> None:
    assert verdict_of(error) is verdict
    assert type(sorted_error("a call", error)) is becomes


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.kind.__name__}-{rule.code}-{rule.param}")
def test_every_rule_decides_about_an_error_of_the_tests(rule: Rule) -> None:
    firsts = [next(first for first in RULES if first.covers(error)) for error, _, _ in DECIDED]
    assert rule in firsts, "an earlier rule hides it, or no error above needs it"


@pytest.mark.parametrize("error", [refused("balance_insufficient"), stripe.APIError("broken", http_status=500)])
def test_a_failure_that_is_replayed_is_known_to_be_kept_for_its_key(error: stripe.StripeError) -> None:
    error.headers = {"idempotent-replayed": "true"}
    assert isinstance(sorted_error("a call", error), FailureKept)


def test_a_replayed_refusal_stays_a_refusal() -> None:
    error = refused("charge_disputed", headers={"idempotent-replayed": "true"})
    assert isinstance(sorted_error("a call", error), NeedsReview)


@pytest.mark.parametrize("error", [error for error, _, _ in DECIDED])
def test_what_the_provider_says_in_words_is_never_in_our_text(error: stripe.StripeError) -> None:
    error._message = "card 4242424242424242 of Eve, key sk_live_1"
    assert "4242" not in str(sorted_error("a call", error))
    assert "sk_live" not in str(sorted_error("a call", error))
