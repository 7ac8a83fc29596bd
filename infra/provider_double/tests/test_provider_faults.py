"""Failing on demand, before and after the effect."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
import stripe

Held = Callable[[httpx.AsyncClient, int], Awaitable[list[dict[str, Any]]]]


async def _create(sdk: stripe.StripeClient, payment_id: str = "pay-1", key: str | None = None) -> str:
    params: Any = {
        "amount": 500,
        "currency": "usd",
        "allowed_payment_method_types": ["card"],
        "metadata": {"payment_id": payment_id},
    }
    intent = await sdk.v1.payment_intents.create_async(params, {"idempotency_key": key} if key else {})
    return intent.id


async def _confirm(sdk: stripe.StripeClient, intent: str, key: str) -> str:
    confirmed = await sdk.v1.payment_intents.confirm_async(
        intent, {"payment_method": "pm_card_visa"}, {"idempotency_key": key}
    )
    return confirmed.status


async def _fault(double: httpx.AsyncClient, operation: str, **rule: object) -> None:
    (await double.post("/faults", json={"operation": operation, **rule})).raise_for_status()


async def _captures(double: httpx.AsyncClient) -> int:
    return sum(row["captures"] for row in (await double.get("/ledger/sums")).json())


async def test_the_next_n_calls_fail_and_then_none(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    await _fault(double, "payment_intents.create", times=2, outcome="status", status=503, stored=False)
    for _ in range(2):
        with pytest.raises(stripe.APIError) as failed:
            await _create(sdk, key="k")
        assert failed.value.http_status == 503
    await _create(sdk, key="k")
    assert (await double.get("/faults")).json() == []


async def test_a_rule_meets_only_the_payment_it_names(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    mine, other = await _create(sdk, "mine"), await _create(sdk, "other")
    await _fault(double, "*", payment_id="mine", outcome="status", status=500)
    assert await _confirm(sdk, other, "k-other") == "succeeded"
    with pytest.raises(stripe.APIError):
        await _confirm(sdk, mine, "k-mine")


async def test_a_connection_dropped_before_the_effect_leaves_none(
    sdk: stripe.StripeClient, double: httpx.AsyncClient
) -> None:
    intent = await _create(sdk)
    await _fault(double, "payment_intents.confirm", outcome="drop")
    with pytest.raises(stripe.APIConnectionError):
        await _confirm(sdk, intent, "k")
    assert await _captures(double) == 0
    assert await _confirm(sdk, intent, "k") == "succeeded"
    calls = (await double.get("/ledger", params={"operation": "payment_intents.confirm"})).json()["calls"]
    assert [call["fate"] for call in calls] == ["dropped", "answered"]


async def test_an_effect_whose_answer_was_dropped_is_replayed_under_its_key(
    sdk: stripe.StripeClient, double: httpx.AsyncClient
) -> None:
    intent = await _create(sdk)
    await _fault(double, "payment_intents.confirm", outcome="drop", point="after")
    with pytest.raises(stripe.APIConnectionError):
        await _confirm(sdk, intent, "k")
    assert await _captures(double) == 1
    assert await _confirm(sdk, intent, "k") == "succeeded"
    with pytest.raises(stripe.InvalidRequestError, match="already succeeded"):
        await _confirm(sdk, intent, "another key")
    assert await _captures(double) == 1
    calls = (await double.get("/ledger", params={"operation": "payment_intents.confirm"})).json()["calls"]
    assert [(call["fate"], call["moved_money"]) for call in calls] == [
        ("answer_dropped", True),
        ("answered", False),
        ("answered", False),
    ]


async def test_the_sdk_retries_over_a_dropped_answer_by_itself(
    sdk: stripe.StripeClient, double: httpx.AsyncClient
) -> None:
    await _fault(double, "payment_intents.create", outcome="drop", point="after")
    params: Any = {"amount": 5, "currency": "usd"}
    await sdk.v1.payment_intents.create_async(params, {"max_network_retries": 2})
    assert len((await sdk.v1.payment_intents.list_async()).data) == 1


async def test_a_gateway_that_fails_after_the_effect_leaves_the_true_answer_under_the_key(
    sdk: stripe.StripeClient, double: httpx.AsyncClient
) -> None:
    intent = await _create(sdk)
    await _fault(double, "payment_intents.confirm", outcome="status", status=502, point="after", stored=False)
    with pytest.raises(stripe.APIError):
        await _confirm(sdk, intent, "k")
    assert await _confirm(sdk, intent, "k") == "succeeded"
    assert await _captures(double) == 1


async def test_an_effect_can_stand_under_a_stored_500(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    intent = await _create(sdk)
    await _fault(double, "payment_intents.confirm", outcome="status", point="after")
    for _ in range(2):
        with pytest.raises(stripe.APIError):
            await _confirm(sdk, intent, "k")
    assert (await sdk.v1.payment_intents.retrieve_async(intent)).status == "succeeded"


async def test_a_held_call_takes_effect_when_released_although_its_client_is_gone(
    sdk: stripe.StripeClient, double: httpx.AsyncClient, held: Held
) -> None:
    intent = await _create(sdk)
    await _fault(double, "payment_intents.confirm", hold=True)
    worker = asyncio.create_task(_confirm(sdk, intent, "zombie"))
    [call] = await held(double, 1)
    assert (call["intent"], call["payment_id"], call["idempotency_key"]) == (intent, "pay-1", "zombie")
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    assert (await sdk.v1.payment_intents.retrieve_async(intent)).status == "requires_payment_method"
    before = (await double.get("/ledger", params={"idempotency_key": "zombie"})).json()["calls"]
    assert [(call["fate"], call["status"]) for call in before] == [("in_flight", None)]

    await double.post(f"/held/{call['id']}/release")
    await held(double, 0)
    assert (await sdk.v1.payment_intents.retrieve_async(intent)).status == "succeeded"
    after = (await double.get("/ledger", params={"idempotency_key": "zombie"})).json()["calls"]
    assert [(call["fate"], call["moved_money"]) for call in after] == [("answered", True)]


async def test_an_answer_can_be_held_after_its_effect(
    sdk: stripe.StripeClient, double: httpx.AsyncClient, held: Held
) -> None:
    intent = await _create(sdk)
    await _fault(double, "payment_intents.confirm", hold=True, point="after")
    worker = asyncio.create_task(_confirm(sdk, intent, "k"))
    await held(double, 1)
    assert await _captures(double) == 1
    assert not worker.done()
    await double.post("/held/release")
    assert await worker == "succeeded"


async def test_a_delayed_call_takes_that_long(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    await _fault(double, "payment_intents.create", delay_seconds=0.3)
    started = time.monotonic()
    await _create(sdk)
    assert 0.3 <= time.monotonic() - started < 3


async def test_reset_drops_held_calls_and_their_effects(
    sdk: stripe.StripeClient, double: httpx.AsyncClient, held: Held
) -> None:
    await _fault(double, "payment_intents.create", hold=True)
    worker = asyncio.create_task(_create(sdk))
    await held(double, 1)
    await double.post("/reset")
    with pytest.raises(stripe.APIConnectionError):
        await worker
    assert not (await sdk.v1.payment_intents.list_async()).data


async def test_a_rule_that_cannot_be_understood_is_refused(double: httpx.AsyncClient) -> None:
    for wrong in (
        {"operation": "payouts.create"},
        {"operation": "*", "outcomes": "drop"},
        {"operation": "*", "times": 0},
    ):
        assert (await double.post("/faults", json=wrong)).status_code == 422
