"""What a capture decides from the provider's answers; no stack, no I/O."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from payment_capture import AMOUNT_MINOR, CaptureWorld
from payment_doubles import NOW, Run

from payment_service.domain.payments import (
    CardDeclined,
    Intent,
    IntentStateConflict,
    IntentStatus,
    NeedsReview,
    PaymentStatus,
    ProviderUnavailable,
)
from payment_service.domain.payments.models import Declined, NotDecidable, Outcome, Settled, outcome_of


async def _open_world() -> CaptureWorld:
    world = CaptureWorld()
    await world.open()
    return world


def _intent(status: IntentStatus, **changes: Any) -> Intent:
    values = {"id": "pi_1", "status": status, "captured_minor": 0, "currency": "EUR", "decline_reason": None}
    return Intent(**(values | changes))


@pytest.mark.parametrize(
    ("intent", "outcome"),
    [
        (_intent(IntentStatus.SUCCEEDED, captured_minor=AMOUNT_MINOR), Settled()),
        (_intent(IntentStatus.SUCCEEDED, captured_minor=1), NotDecidable("captured_amount_differs")),
        (
            _intent(IntentStatus.SUCCEEDED, captured_minor=AMOUNT_MINOR, currency="USD"),
            NotDecidable("captured_amount_differs"),
        ),
        (_intent(IntentStatus.CANCELLED, decline_reason="insufficient_funds"), Declined("insufficient_funds")),
        (_intent(IntentStatus.CANCELLED), Declined("intent_cancelled_at_provider")),
        (_intent(IntentStatus.DECLINED, decline_reason="insufficient_funds"), None),
        (_intent(IntentStatus.UNCONFIRMED), None),
        (_intent(IntentStatus.IN_PROGRESS), None),
    ],
)
async def test_only_a_final_answer_concludes_a_payment(intent: Intent, outcome: Outcome | None) -> None:
    world = await _open_world()
    assert outcome_of(world.payment, intent) == outcome


@pytest.mark.parametrize("operation", ["create", "confirm"])
async def test_a_request_that_the_provider_refuses_needs_review_and_tells_nobody(operation: str) -> None:
    world = await _open_world()
    world.provider.raises[operation] = NeedsReview("amount_too_large")
    await world.deliver()
    assert (world.payment.status, world.payment.reason) == (PaymentStatus.NEEDS_REVIEW, "amount_too_large")
    assert world.state.published == []
    assert world.state.job.done


async def test_an_intent_that_vanished_needs_review() -> None:
    world = await _open_world()
    await world.deliver(Run(drop_at=(await _boundary("confirm answered"))))
    world.provider.raises["retrieve"] = NeedsReview("resource_missing")
    await world.deliver()
    assert (world.payment.status, world.payment.reason) == (PaymentStatus.NEEDS_REVIEW, "resource_missing")


async def test_a_refused_payment_method_declines_without_an_intent() -> None:
    world = await _open_world()
    world.provider.raises["create"] = CardDeclined("resource_missing")
    await world.deliver()
    assert (world.payment.status, world.payment.intent_id) == (PaymentStatus.DECLINED, None)
    assert [event.event_name for event in world.state.published] == ["payment.declined"]


@pytest.mark.parametrize("operation", ["create", "confirm"])
async def test_an_outage_leaves_the_payment_open_and_the_job_unfinished(operation: str) -> None:
    world = await _open_world()
    world.provider.raises[operation] = ProviderUnavailable("away")
    for _ in range(3):
        await world.deliver()
    assert world.payment.status in {PaymentStatus.PROCESSING, PaymentStatus.CONFIRMING}
    assert not world.state.job.done
    del world.provider.raises[operation]
    await world.deliver_until_done()
    assert world.provider.captures == [world.payment.intent_id]


async def test_an_undecided_intent_stays_open_until_the_provider_decides() -> None:
    world = await _open_world()
    await world.deliver(Run(drop_at=(await _boundary("confirm sent"))))
    (intent,) = world.provider.intents.values()
    intent.status = IntentStatus.IN_PROGRESS
    await world.deliver()
    assert world.payment.status is PaymentStatus.CONFIRMING
    assert not world.state.job.done
    intent.status = IntentStatus.SUCCEEDED
    await world.deliver()
    assert world.payment.status is PaymentStatus.SETTLED
    assert [operation for operation, _ in world.provider.calls].count("confirm") == 0, (
        "only read, never confirmed again"
    )


async def test_a_capture_that_beats_the_cancel_of_its_declined_intent_settles() -> None:
    world = CaptureWorld(declines=1)
    await world.open()
    world.provider.raises["cancel"] = IntentStateConflict("succeeded")
    await world.deliver()
    assert world.payment.status is PaymentStatus.CONFIRMING, "refused, and still declined: nobody knows yet"
    (intent,) = world.provider.intents.values()
    intent.status = IntentStatus.SUCCEEDED
    await world.deliver()
    assert world.payment.status is PaymentStatus.SETTLED
    assert [event.event_name for event in world.state.published] == ["payment.settled"]


async def test_a_recorded_cancel_before_confirming_stops_the_capture() -> None:
    world = await _open_world()
    await world.deliver(Run(drop_at=(await _boundary("create sent"))))
    payment = world.payment
    world.state.payments[payment.id] = replace(payment, cancel_requested_at=NOW)
    await world.deliver()
    assert world.provider.calls == [], "neither an intent nor a confirmation for what was cancelled"
    assert world.payment.status is PaymentStatus.PROCESSING
    assert world.state.job.done


async def _boundary(name: str) -> int:
    """Where an undisturbed run reaches the boundary of this name."""
    world, run = await _open_world(), Run()
    await world.deliver(run)
    return run.reached.index(name)
