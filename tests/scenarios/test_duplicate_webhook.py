"""What the card provider tells twice, late or about nothing of ours, on the real processes."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from native.credentials import STRIPE_API_KEY
from world.waiting import eventually
from world.world import World


@pytest.mark.scenario("suite/duplicate-webhook")
async def test_webhooks_twice_out_of_order_or_for_an_orphan_have_no_effect_but_a_check(world: World) -> None:
    order = await world.story.place()
    view = await world.story.until_mailed(order)
    (payment,) = await world.story.payments(order)
    _, (capture,) = await world.story.at_the_provider(order)

    async with httpx.AsyncClient(base_url=world.suite.provider_url, trust_env=False, timeout=30) as provider:
        events = await _until_delivered(provider, capture.intent)
        assert [event["type"] for event in events] == ["payment_intent.created", "payment_intent.succeeded"]
        for event in reversed(events):
            await provider.post(f"/_double/webhooks/{event['id']}/replay", json={"times": 2})
        orphan = await _orphan(provider, world, order.id, str(payment.id))
        (told,) = await _until_delivered(provider, orphan)
        again = await _until_delivered(provider, capture.intent)
        assert [len(event["deliveries"]) for event in again] == [3, 3]

        for event in (*events, told):
            await _until_checked(world, event["id"])
        shown = (await provider.get(f"/v1/payment_intents/{orphan}", headers=_bearer(world))).json()
        assert shown["status"] == "requires_confirmation", "a run might have been about to store it"

    assert await world.story.payments(order) == [payment]
    _, moves = await world.story.at_the_provider(order)
    assert [move.kind for move in moves] == ["capture"]
    said = await world.databases.value(
        "payment", "SELECT count(*) FROM outbox WHERE channel = 'kafka' AND key = $1", order.id
    )
    assert said == 1
    assert len(await world.story.mails(view)) == 1


async def _orphan(provider: httpx.AsyncClient, world: World, order_id: str, payment_id: str) -> str:
    """An intent such as a fenced-out run leaves behind."""
    form = {
        "amount": "2500",
        "currency": "eur",
        "payment_method": "pm_card_visa",
        "allowed_payment_method_types[0]": "card",
        "metadata[payment_id]": payment_id,
        "metadata[order_id]": order_id,
    }
    answer = await provider.post("/v1/payment_intents", data=form, headers=_bearer(world))
    answer.raise_for_status()
    return str(answer.json()["id"])


def _bearer(world: World) -> dict[str, str]:
    return {"Authorization": f"Bearer {(world.stack.layout.secrets / STRIPE_API_KEY).read_text(encoding='utf-8')}"}


async def _until_delivered(provider: httpx.AsyncClient, intent: str) -> list[dict[str, Any]]:
    """Wait until every delivery of the intent's events was taken; the events, the oldest first."""

    async def looked() -> list[dict[str, Any]] | None:
        events = (await provider.get("/_double/webhooks", params={"object": intent})).json()["events"]
        taken = [delivery["delivered_at"] for event in events for delivery in event["deliveries"]]
        return events if events and all(taken) else None

    return await eventually(looked, what=f"the webhooks of {intent} are delivered")


async def _until_checked(world: World, event_id: str) -> None:
    async def looked() -> bool:
        rows = await world.databases.rows("payment", "SELECT status FROM job WHERE job_key = $1", f"check:{event_id}")
        return [row["status"] for row in rows] == ["done"]

    await eventually(looked, what=f"the check of event {event_id} is done")
