"""Idempotency keys, as the real API keeps them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
import stripe

from provider_double.testing import API_KEY, ProviderProcess

Held = Callable[[httpx.AsyncClient, int], Awaitable[list[dict[str, Any]]]]


def _params(amount: int = 100) -> dict[str, Any]:
    return {
        "amount": amount,
        "currency": "usd",
        "allowed_payment_method_types": ["card"],
        "metadata": {"payment_id": "pay-1", "order_id": "ord-1"},
    }


async def _create(sdk: stripe.StripeClient, key: str, amount: int = 100) -> str:
    intent = await sdk.raw_request_async("post", "/v1/payment_intents", idempotency_key=key, **_params(amount))
    return str(intent.data["id"])


async def _intents(sdk: stripe.StripeClient) -> int:
    return len((await sdk.v1.payment_intents.list_async({"limit": 100})).data)


async def test_the_first_answer_is_replayed(provider_process: ProviderProcess, sdk: stripe.StripeClient) -> None:
    async with httpx.AsyncClient(verify=False, base_url=provider_process.url) as client:
        headers = {"Authorization": f"Bearer {API_KEY}", "Idempotency-Key": "k"}
        form = {"amount": "100", "currency": "usd", "metadata[b]": "2", "metadata[a]": "1"}
        reordered = {"metadata[a]": "1", "currency": "usd", "metadata[b]": "2", "amount": "100"}
        first = await client.post("/v1/payment_intents", data=form, headers=headers)
        again = await client.post("/v1/payment_intents", data=reordered, headers=headers)
    assert first.content == again.content
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["original-request"] == first.headers["request-id"] != again.headers["request-id"]
    assert await _intents(sdk) == 1


async def test_another_body_or_endpoint_with_the_same_key_is_refused(sdk: stripe.StripeClient) -> None:
    intent = await _create(sdk, "k", 100)
    with pytest.raises(stripe.IdempotencyError, match="same parameters") as other_body:
        await _create(sdk, "k", 101)
    assert other_body.value.http_status == 400
    with pytest.raises(stripe.IdempotencyError, match="same endpoint"):
        await sdk.v1.payment_intents.cancel_async(intent, options={"idempotency_key": "k"})
    assert await _create(sdk, "k", 100) == intent


async def test_a_key_whose_call_has_not_ended_is_409(
    sdk: stripe.StripeClient, double: httpx.AsyncClient, held: Held
) -> None:
    await double.post("/faults", json={"operation": "payment_intents.create", "hold": True})
    first = asyncio.create_task(_create(sdk, "k"))
    await held(double, 1)
    with pytest.raises(stripe.APIError) as in_use:
        await _create(sdk, "k")
    assert in_use.value.http_status == 409
    assert in_use.value.error is not None
    assert (in_use.value.error.type, in_use.value.error.code) == ("idempotency_error", "idempotency_key_in_use")

    await double.post("/held/release")
    intent = await first
    assert await _create(sdk, "k") == intent
    assert await _intents(sdk) == 1


async def test_a_key_is_forgotten_after_24_hours(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    first = await _create(sdk, "k")
    await double.post("/clock", json={"shift_seconds": 24 * 3600 - 60})
    assert await _create(sdk, "k") == first
    await double.post("/clock", json={"shift_seconds": 120})
    second = await _create(sdk, "k")
    assert second != first
    assert await _create(sdk, "k") == second


async def test_a_refund_sent_again_under_its_key_moves_money_once(
    sdk: stripe.StripeClient, double: httpx.AsyncClient
) -> None:
    intent = await _create(sdk, "k", 900)
    await sdk.v1.payment_intents.confirm_async(intent, {"payment_method": "pm_card_visa"})
    refunds = [
        await sdk.v1.refunds.create_async({"payment_intent": intent, "amount": 300}, {"idempotency_key": "refund-1"})
        for _ in range(3)
    ]
    assert len({refund.id for refund in refunds}) == 1
    [sums] = (await double.get("/ledger/sums")).json()
    assert (sums["refunds"], sums["refunded"]) == (1, 300)
    calls = (await double.get("/ledger", params={"operation": "refunds.create"})).json()["calls"]
    assert [(call["replayed"], call["moved_money"]) for call in calls] == [(False, True), (True, False), (True, False)]


async def test_a_decline_is_replayed(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    intent = await _create(sdk, "k")
    for _ in range(2):
        with pytest.raises(stripe.CardError):
            await sdk.v1.payment_intents.confirm_async(
                intent, {"payment_method": "pm_card_chargeDeclined"}, {"idempotency_key": "confirm"}
            )
    calls = (await double.get("/ledger", params={"operation": "payment_intents.confirm"})).json()["calls"]
    assert [(call["status"], call["replayed"]) for call in calls] == [(402, False), (402, True)]


async def test_a_stored_5xx_is_replayed_until_the_key_changes(
    sdk: stripe.StripeClient, double: httpx.AsyncClient
) -> None:
    await double.post("/faults", json={"operation": "payment_intents.create", "outcome": "status", "status": 500})
    for _ in range(2):
        with pytest.raises(stripe.APIError) as failed:
            await _create(sdk, "k")
        assert failed.value.http_status == 500
    assert await _intents(sdk) == 0
    await _create(sdk, "another key")
    assert await _intents(sdk) == 1


async def test_what_validation_refused_is_not_stored(sdk: stripe.StripeClient) -> None:
    with pytest.raises(stripe.InvalidRequestError):
        await _create(sdk, "k", 0)
    await _create(sdk, "k", 1)


async def test_a_key_is_at_most_255_characters(sdk: stripe.StripeClient) -> None:
    await _create(sdk, "k" * 255)
    with pytest.raises(stripe.InvalidRequestError, match="255"):
        await _create(sdk, "k" * 256)
