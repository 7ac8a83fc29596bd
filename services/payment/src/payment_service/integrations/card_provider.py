"""The card provider through the official Stripe SDK. The only place that calls it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final

import httpx
import stripe
from stripe.params import PaymentIntentConfirmParams, PaymentIntentListParams, RefundListParams

from payment_service.domain.payments import (
    CardDeclined,
    Intent,
    IntentRequest,
    IntentStateConflict,
    NeedsReview,
    Page,
    ProviderRefund,
    ProviderUnavailable,
    RefundRequest,
)
from service_platform.database import forbid_in_transaction
from service_platform.jobs import RunKey
from service_platform.telemetry import carrier

from .provider_answers import PAYMENT_ID, REFUND_ID, intent_of, refund_of
from .provider_errors import sorted_error

CALL_BUDGET_SECONDS: Final = 15.0
"""The longest that one call may take, the SDK's own retries included. A run of a job makes a handful of calls, so
this lies far below its deadline. A process that was stopped before it sent finds its budget used up when it wakes."""

_TRY_TIMEOUT: Final = httpx.Timeout(6.0, connect=2.0)

# The SDK repeats a call with the same key and body after a dropped connection, a 409 (key in use) and a 5xx that the
# provider does not ask to leave alone. Once heals a blip without a new run of the job, whose new run key would leave
# a second intent behind. Longer outages are the job's: its backoff holds no worker.
_SDK_RETRIES: Final = 1

_PAGE: Final = 100


class StripeCardProvider:
    """`CardProvider` over Stripe's payment intents and refunds. Belongs to one event loop; close it at the end.

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
        self._refunds = client.v1.refunds

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
                    "metadata": {PAYMENT_ID: str(request.payment_id), "order_id": str(request.order_id)},
                },
                _options(key),
            )
            return intent_of(created)

    async def confirm_intent(self, intent_id: str, key: RunKey) -> Intent:
        async with _call("confirm an intent"):
            # No customer is there to authenticate, so a need for that is a decline.
            params: PaymentIntentConfirmParams = {"error_on_requires_action": True}
            return intent_of(await self._intents.confirm_async(intent_id, params, _options(key)))

    async def cancel_intent(self, intent_id: str, key: RunKey) -> Intent:
        async with _call("cancel an intent"):
            return intent_of(await self._intents.cancel_async(intent_id, options=_options(key)))

    async def retrieve_intent(self, intent_id: str) -> Intent:
        async with _call("retrieve an intent"):
            return intent_of(await self._intents.retrieve_async(intent_id, options=_reading()))

    async def list_intents(self, since: datetime, after: str | None = None) -> Page[Intent]:
        params: PaymentIntentListParams = {"created": {"gte": int(since.timestamp())}, "limit": _PAGE}
        if after is not None:
            params["starting_after"] = after
        async with _call("list intents"):
            listed = await self._intents.list_async(params, _reading())
            intents = [intent_of(intent) for intent in listed.data]
        return Page(intents, intents[-1].id if listed.has_more else None)

    async def create_refund(self, request: RefundRequest, key: RunKey) -> ProviderRefund:
        try:
            async with _call("create a refund"):
                created = await self._refunds.create_async(
                    {
                        "payment_intent": request.intent_id,
                        "amount": request.amount_minor,
                        "metadata": {REFUND_ID: str(request.refund_id), PAYMENT_ID: str(request.payment_id)},
                    },
                    _options(key),
                )
                return refund_of(created)
        except CardDeclined as refusal:
            raise NeedsReview(refusal.reason) from refusal
        except IntentStateConflict as refusal:
            raise NeedsReview("payment_intent_unexpected_state") from refusal

    async def retrieve_refund(self, reference: str) -> ProviderRefund:
        async with _call("retrieve a refund"):
            return refund_of(await self._refunds.retrieve_async(reference, options=_reading()))

    async def list_refunds(
        self, *, intent_id: str | None = None, since: datetime | None = None, after: str | None = None
    ) -> Page[ProviderRefund]:
        params: RefundListParams = {"limit": _PAGE}
        if intent_id is not None:
            params["payment_intent"] = intent_id
        if since is not None:
            params["created"] = {"gte": int(since.timestamp())}
        if after is not None:
            params["starting_after"] = after
        async with _call("list refunds"):
            listed = await self._refunds.list_async(params, _reading())
            refunds = [refund_of(refund) for refund in listed.data]
        return Page(refunds, refunds[-1].reference if listed.has_more else None)


def _options(key: RunKey) -> stripe.RequestOptions:
    return {"idempotency_key": str(key), "headers": carrier()}


def _reading() -> stripe.RequestOptions:
    return {"headers": carrier()}


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
        raise sorted_error(what, error) from error
