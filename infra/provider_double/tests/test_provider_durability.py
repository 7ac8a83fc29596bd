"""What the judge has acknowledged, it remembers."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import stripe

from provider_double.testing import ProviderProcess

Sdk = Callable[[ProviderProcess], stripe.StripeClient]
Held = Callable[[httpx.AsyncClient, int], Awaitable[list[dict[str, Any]]]]


async def _pay(sdk: stripe.StripeClient, key: str) -> str:
    params: Any = {
        "amount": 100,
        "currency": "usd",
        "confirm": True,
        "payment_method": "pm_card_visa",
        "allowed_payment_method_types": ["card"],
        "metadata": {"payment_id": key},
    }
    return (await sdk.v1.payment_intents.create_async(params, {"idempotency_key": key})).id


async def test_a_kill_9_under_load_loses_nothing_that_was_answered(own_provider: ProviderProcess, sdk_for: Sdk) -> None:
    sdk = sdk_for(own_provider)
    answered: dict[str, str] = {}
    enough = asyncio.Event()

    async def keep_paying(client: int) -> None:
        for number in range(10_000):
            key = f"{client}-{number}"
            try:
                answered[key] = await _pay(sdk, key)
            except stripe.APIConnectionError:
                return
            if len(answered) >= 60:
                enough.set()

    clients = [asyncio.create_task(keep_paying(client)) for client in range(4)]
    async with asyncio.timeout(60):
        await enough.wait()
    own_provider.kill()
    await asyncio.gather(*clients)

    own_provider.start()
    async with httpx.AsyncClient(verify=False, base_url=f"{own_provider.url}/_double") as double:
        ledger = (await double.get("/ledger", params={"limit": 10_000})).json()
    captured = {move["payment_id"]: move["intent"] for move in ledger["moves"]}
    assert answered.items() <= captured.items()
    assert len(captured) == len(ledger["moves"]) <= len(answered) + len(clients)
    key, intent = next(iter(answered.items()))
    assert await _pay(sdk_for(own_provider), key) == intent


async def test_the_shifted_clock_survives_a_restart(own_provider: ProviderProcess) -> None:
    async with httpx.AsyncClient(verify=False, base_url=f"{own_provider.url}/_double") as double:
        await double.post("/clock", json={"shift_seconds": 90_000})
    own_provider.kill()
    own_provider.start()
    async with httpx.AsyncClient(verify=False, base_url=f"{own_provider.url}/_double") as double:
        assert (await double.get("/clock")).json()["offset_seconds"] == 90_000


async def test_sigterm_ends_it_cleanly_although_a_call_is_held(
    own_provider: ProviderProcess, sdk_for: Sdk, held: Held
) -> None:
    async with httpx.AsyncClient(verify=False, base_url=f"{own_provider.url}/_double") as double:
        await double.post("/faults", json={"operation": "*", "hold": True})
        call = asyncio.create_task(_pay(sdk_for(own_provider), "k"))
        await held(double, 1)
    started = time.monotonic()
    code = await asyncio.to_thread(own_provider.stop)
    assert (code, time.monotonic() - started < 5) == (0, True)
    [outcome] = await asyncio.gather(call, return_exceptions=True)
    assert isinstance(outcome, stripe.APIConnectionError)
