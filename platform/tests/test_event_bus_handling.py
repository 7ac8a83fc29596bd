"""What the handling of one delivery does about the refusals of its claim."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from bus_lab import event_class
from consuming_lab import Handler, consuming
from ledger_lab import Deliveries, Owner, incoming

from service_platform.event_bus import Delivery
from service_platform.event_bus.handling import Abandoned, Handling, persistently
from service_platform.event_bus.headers import Envelope
from service_platform.inbox import InboxClaim, IncomingEvent, KeyBlocked


async def handle(shop: Deliveries, event: IncomingEvent, handler: Handler) -> None:
    headers = {
        **event.headers,
        "event-version": "1",
        "event-source": event.source,
        "occurred-at": "2026-01-01T00:00:00+00:00",
    }
    claim = InboxClaim(event.consumer, event.source, event.key, event.event_id)
    consumer = consuming(event_class(event.source), event.consumer, handler)
    await Handling(consumer, event, Envelope.read(headers), claim, shop.ledger).until_decided(asyncio.Event())


def happening() -> IncomingEvent:
    event = incoming()
    payload = event_class(event.source)(thing_id=event.key).model_dump_json().encode()
    return replace(event, payload=payload)


async def test_an_event_that_is_free_again_when_it_would_be_appended_is_run(shop: Deliveries) -> None:
    event, head = happening(), incoming()
    await shop.fail(head)

    async def handler(delivery: Delivery[Any]) -> None:
        try:
            await shop.effect(event, delivery.claim)
        except KeyBlocked:
            await shop.wake(await shop.last_wake_up())  # and so the head has left
            raise

    await handle(shop, event, handler)
    assert await shop.effects() == [head.event_id, event.event_id]


async def test_an_event_that_took_effect_is_taken_out_of_the_ledger_when_it_is_delivered_again(
    owner: Owner, shop: Deliveries
) -> None:
    event = happening()
    await shop.fail(event)
    await owner.execute("INSERT INTO inbox VALUES ('c', 'order', $1, now())", event.event_id)
    await handle(shop, event, lambda delivery: shop.effect(event, delivery.claim))
    assert await shop.pending() == []
    assert await shop.effects() == []


async def test_what_cannot_be_recorded_is_given_up_when_its_partition_goes() -> None:
    stopping = asyncio.Event()

    async def fails() -> None:
        stopping.set()
        raise ConnectionError

    with pytest.raises(Abandoned):
        await persistently(fails, stopping)
