"""The card provider through the official Stripe SDK. The only place that knows it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Final

import httpx
import stripe
from stripe.params import PaymentIntentConfirmParams

from payment_service.domain.payments import (
    CardDeclined,
    Intent,
    IntentRequest,
    IntentStateConflict,
    IntentStatus,
    NeedsReview,
    ProviderError,
    ProviderUnavailable,
)
from service_platform.database import forbid_in_transaction
from service_platform.jobs import RunKey
from service_platform.telemetry import carrier

CALL_BUDGET_SECONDS: Final = 15.0
"""The longest that one call may take, the SDK's own retries included. A run of a job makes a handful of calls, so
this lies far below its deadline."""

_TRY_TIMEOUT: Final = httpx.Timeout(6.0, connect=2.0)

# The SDK repeats a call with the same key and body after a dropped connection, a 409 (key in use) and a 5xx that the
# provider does not ask to leave alone. Once heals a blip without a new run of the job, whose new run key would leave
# a second intent behind. Longer outages are the job's: its backoff holds no worker.
_SDK_RETRIES: Final = 1

_STATUS: Final = {
    "requires_confirmation": IntentStatus.UNCONFIRMED,
    "requires_payment_method": IntentStatus.DECLINED,  # every intent of ours was created with a method
    "requires_action": IntentStatus.DECLINED,  # nobody is there to act: as good as declined, and closed like it
    "processing": IntentStatus.IN_PROGRESS,
    "succeeded": IntentStatus.SUCCEEDED,
    "canceled": IntentStatus.CANCELLED,
}


_LONGEST_CODE: Final = 100  # what fits the payment's reason; the codes of the API are far shorter


class StripeCardProvider:
    """`CardProvider` over Stripe's payment intents. Belongs to one event loop; close it at the end of the process.

    `api_base` is the address without a path: Stripe's own, or the provider double's.
    """

    def __init__(self, *, api_key: str, api_base: str) -> None:
        # The SDK writes an identifier into the home folder and sends it along, and its debug lines carry whole bodies.
        stripe.enable_telemetry = False
        logging.getLogger("stripe").setLevel(logging.WARNING)
        self._http = stripe.HTTPXClient(timeout=_TRY_TIMEOUT)
        client = stripe.StripeClient(
            api_key,
            base_addresses={"api": api_base.rstrip("/")},
            http_client=self._http,
            max_network_retries=_SDK_RETRIES,
        )
        self._intents = client.v1.payment_intents

    async def close(self) -> None:
        await self._http.close_async()  # type: ignore[no-untyped-call]

    async def create_intent(self, request: IntentRequest, key: RunKey) -> Intent:
        async with _call("create an intent"):
            created = await self._intents.create_async(
                {
                    "amount": request.amount_minor,
                    "currency": request.currency.lower(),
                    "payment_method": request.payment_method,
                    "allowed_payment_method_types": ["card"],
                    "metadata": {"payment_id": str(request.payment_id), "order_id": str(request.order_id)},
                },
                _options(key),
            )
            return _intent(created)

    async def confirm_intent(self, intent_id: str, key: RunKey) -> Intent:
        async with _call("confirm an intent"):
            # No customer is there to authenticate, so a need for that is a decline.
            params: PaymentIntentConfirmParams = {"error_on_requires_action": True}
            return _intent(await self._intents.confirm_async(intent_id, params, _options(key)))

    async def cancel_intent(self, intent_id: str, key: RunKey) -> Intent:
        async with _call("cancel an intent"):
            return _intent(await self._intents.cancel_async(intent_id, options=_options(key)))

    async def retrieve_intent(self, intent_id: str) -> Intent:
        async with _call("retrieve an intent"):
            return _intent(await self._intents.retrieve_async(intent_id, options={"headers": carrier()}))


def _options(key: RunKey) -> stripe.RequestOptions:
    return {"idempotency_key": str(key), "headers": carrier()}


@contextlib.asynccontextmanager
async def _call(what: str) -> AsyncIterator[None]:
    """Around one call: outside of any transaction, within the budget, its errors sorted."""
    forbid_in_transaction(f"card provider: {what}")
    try:
        async with asyncio.timeout(CALL_BUDGET_SECONDS):
            yield
    except TimeoutError as error:
        raise ProviderUnavailable(f"{what}: no answer within {CALL_BUDGET_SECONDS:g} s") from error
    except stripe.StripeError as error:
        raise _sorted(what, error) from error


def _sorted(what: str, error: stripe.StripeError) -> ProviderError:
    """An error of the SDK as one of the domain's: declined, refused for its state, not decidable, or unknown."""
    code = (error.code or "")[:_LONGEST_CODE]
    if isinstance(error, stripe.CardError):
        return CardDeclined(_decline_code(error.error) or code or "card_declined")
    if isinstance(error, stripe.InvalidRequestError):
        if code == "payment_intent_unexpected_state":
            return IntentStateConflict(f"{what}: {code}")
        if error.param == "payment_method":
            return CardDeclined(code or "payment_method_unusable")
        return NeedsReview(code or "invalid_request")
    # Outage, rate limit, key in use, refused credentials: nothing is known about the effect, or a person mends the
    # settings while the job waits.
    status = error.http_status or "without an answer"
    return ProviderUnavailable(f"{what}: {type(error).__name__}, {status} {code}".rstrip())


def _intent(answer: stripe.PaymentIntent) -> Intent:
    status = _STATUS.get(answer.status)
    if status is None:
        raise NeedsReview(f"unknown_intent_status_{answer.status}"[:_LONGEST_CODE])
    return Intent(
        id=answer.id,
        status=status,
        captured_minor=answer.amount_received,
        currency=answer.currency.upper(),
        decline_reason=_decline_code(answer.last_payment_error),
    )


def _decline_code(error: stripe.ErrorObject | stripe.PaymentIntent.LastPaymentError | None) -> str | None:
    """Why the card was refused, as exactly as the provider says it; it leaves out what does not apply."""
    code = getattr(error, "decline_code", None) or getattr(error, "code", None)
    return str(code)[:_LONGEST_CODE] if code else None
