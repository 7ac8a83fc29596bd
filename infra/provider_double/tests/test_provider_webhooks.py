"""Webhooks: signed, retried, duplicated and replayed on demand."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

import httpx
import pytest
import stripe

from native.standalone import free_port
from provider_double.testing import WEBHOOK_SECRET, ProviderProcess


class WebhookProvider(NamedTuple):
    """A double that delivers to a port where each test opens a receiver of its own."""

    provider: ProviderProcess
    receiver_port: int


class Receiver:
    """An endpoint that refuses what `statuses` says, then takes all; it checks signatures with the official SDK."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.events: list[dict[str, Any]] = []
        self._arrived = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.split(": ", 1) for line in head.lower().split("\r\n")[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        stripe.WebhookSignature.verify_header(body, headers["stripe-signature"], WEBHOOK_SECRET, tolerance=60)
        self.events.append(json.loads(body))
        self._arrived.set()
        status = self.statuses.pop(0) if self.statuses else 200
        writer.write(f"HTTP/1.1 {status} Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def expect(self, what: str, holds: Callable[[list[dict[str, Any]]], bool]) -> None:
        try:
            async with asyncio.timeout(30):
                while not holds(self.events):
                    await self._arrived.wait()
                    self._arrived.clear()
        except TimeoutError:
            pytest.fail(f"expected {what} within 30 s, got {[event['type'] for event in self.events]}")


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebhookProvider]:
    port = free_port()
    provider = ProviderProcess(tmp_path_factory.mktemp("webhooks"), webhook_url=f"http://127.0.0.1:{port}/stripe")
    provider.start()
    yield WebhookProvider(provider, port)
    provider.stop()


@pytest.fixture
async def control(process: WebhookProvider) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(verify=False, base_url=f"{process.provider.url}/_double") as client:
        (await client.post("/reset")).raise_for_status()
        yield client


@pytest.fixture
async def receiver(process: WebhookProvider, control: httpx.AsyncClient) -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = await asyncio.start_server(receiver.answer, "127.0.0.1", process.receiver_port)
    yield receiver
    server.close()
    await server.wait_closed()


async def _pay(sdk: stripe.StripeClient) -> str:
    params: Any = {"amount": 100, "currency": "usd", "allowed_payment_method_types": ["card"], "description": "Cà phê"}
    intent = await sdk.v1.payment_intents.create_async(params)
    await sdk.v1.payment_intents.confirm_async(intent.id, {"payment_method": "pm_card_visa"})
    await sdk.v1.refunds.create_async({"payment_intent": intent.id})
    return intent.id


@pytest.fixture
def webhook_sdk(
    process: WebhookProvider, receiver: Receiver, sdk_for: Callable[[ProviderProcess], stripe.StripeClient]
) -> stripe.StripeClient:
    return sdk_for(process.provider)


def _types(events: list[dict[str, Any]]) -> list[str]:
    return sorted(event["type"] for event in events)


ALL_THREE = ["payment_intent.created", "payment_intent.succeeded", "refund.created"]


async def test_every_change_is_told_once_with_the_object_as_it_was(
    webhook_sdk: stripe.StripeClient, receiver: Receiver
) -> None:
    intent = await _pay(webhook_sdk)
    await receiver.expect("three events", lambda events: _types(events) == ALL_THREE)
    by_type = {event["type"]: event["data"]["object"] for event in receiver.events}
    assert by_type["payment_intent.created"]["status"] == "requires_payment_method"
    assert by_type["payment_intent.succeeded"]["status"] == "succeeded"
    assert by_type["refund.created"]["payment_intent"] == intent


async def test_a_refused_event_is_sent_again(
    webhook_sdk: stripe.StripeClient, receiver: Receiver, control: httpx.AsyncClient
) -> None:
    receiver.statuses = [500, 500, 500]
    await _pay(webhook_sdk)
    await receiver.expect("each of three events twice", lambda events: len(events) == 6)
    assert sorted({event["id"] for event in receiver.events}) == sorted(
        event["id"] for event in (await control.get("/webhooks")).json()["events"]
    )


async def test_events_can_be_held_back_and_sent_in_another_order(
    webhook_sdk: stripe.StripeClient, receiver: Receiver, control: httpx.AsyncClient
) -> None:
    await control.post("/webhooks/pause")
    await _pay(webhook_sdk)
    recorded = (await control.get("/webhooks")).json()
    assert recorded["paused"]
    assert [event["deliveries"][0]["attempts"] for event in recorded["events"]] == [0, 0, 0]
    assert not receiver.events
    await control.post("/webhooks/resume")
    await receiver.expect("three events", lambda events: _types(events) == ALL_THREE)


async def test_an_event_is_duplicated_and_replayed_on_demand(
    webhook_sdk: stripe.StripeClient, receiver: Receiver, control: httpx.AsyncClient
) -> None:
    await control.post("/webhooks/duplicate", json={"times": 1})
    await _pay(webhook_sdk)
    await receiver.expect("the first event twice", lambda events: _types(events) == [ALL_THREE[0], *ALL_THREE])
    succeeded = next(event["id"] for event in receiver.events if event["type"] == "payment_intent.succeeded")
    assert (await control.post(f"/webhooks/{succeeded}/replay", json={"times": 2})).status_code == 200
    await receiver.expect(
        "the success three times", lambda events: [event["id"] for event in events].count(succeeded) == 3
    )
    assert (await control.post("/webhooks/evt_nothing/replay", json={"times": 1})).status_code == 404


async def test_an_event_not_yet_delivered_survives_a_kill_9(
    process: WebhookProvider, webhook_sdk: stripe.StripeClient, receiver: Receiver, control: httpx.AsyncClient
) -> None:
    await control.post("/webhooks/pause")
    await _pay(webhook_sdk)
    process.provider.kill()
    process.provider.start()
    await receiver.expect("three events after the restart", lambda events: _types(events) == ALL_THREE)
