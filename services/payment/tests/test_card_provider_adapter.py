"""The adapter against the provider double, through the real SDK: what calls give, and how errors are sorted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID, uuid4

import httpx
import pytest

from payment_service.domain.payments import (
    CardDeclined,
    Intent,
    IntentRequest,
    IntentStateConflict,
    IntentStatus,
    NeedsReview,
    ProviderUnavailable,
)
from payment_service.integrations import StripeCardProvider, card_provider
from payment_service.jobs import CapturePayment
from provider_double.testing import API_KEY, ProviderProcess
from service_platform.database import ExternalCallInTransaction
from service_platform.database.transaction import transaction_is_open
from service_platform.jobs import RunKey
from service_platform.jobs.run import CLAIMED


@pytest.fixture
async def cards(provider_process: ProviderProcess, double: httpx.AsyncClient) -> AsyncIterator[StripeCardProvider]:
    provider = StripeCardProvider(api_key=API_KEY, api_base=provider_process.url)
    yield provider
    await provider.close()


def _key(step: str = "create-intent", *, job_id: UUID | None = None, token: int = 1) -> RunKey:
    return RunKey(CLAIMED, job_id=job_id or uuid4(), step=step, token=token)


def _request(payment_method: str = "pm_card_visa", *, amount_minor: int = 1999, currency: str = "EUR") -> IntentRequest:
    return IntentRequest(
        payment_id=uuid4(),
        order_id=uuid4(),
        amount_minor=amount_minor,
        currency=currency,
        payment_method=payment_method,
    )


async def test_an_intent_moves_no_money_until_it_is_confirmed_and_then_once(
    cards: StripeCardProvider, double: httpx.AsyncClient
) -> None:
    request = _request()
    created = await cards.create_intent(request, _key())
    assert created.status is IntentStatus.UNCONFIRMED
    assert created.captured_minor == 0
    confirmed = await cards.confirm_intent(created.id, _key("confirm-intent"))
    assert confirmed.status is IntentStatus.SUCCEEDED
    assert (confirmed.captured_minor, confirmed.currency) == (1999, "EUR")
    with pytest.raises(IntentStateConflict):
        await cards.confirm_intent(created.id, _key("confirm-intent", token=2))
    moves = (await double.get("/ledger")).json()["moves"]
    assert [(move["amount"], move["payment_id"], move["order_id"]) for move in moves] == [
        (1999, str(request.payment_id), str(request.order_id))
    ]


@pytest.mark.parametrize(("amount_minor", "currency"), [(500, "JPY"), (12340, "KWD")])
async def test_amounts_are_minor_units_in_every_currency(
    cards: StripeCardProvider, double: httpx.AsyncClient, amount_minor: int, currency: str
) -> None:
    created = await cards.create_intent(_request(amount_minor=amount_minor, currency=currency), _key())
    confirmed = await cards.confirm_intent(created.id, _key("confirm-intent"))
    assert (confirmed.captured_minor, confirmed.currency) == (amount_minor, currency)


async def test_a_declined_intent_says_why_and_can_be_cancelled_for_good(
    cards: StripeCardProvider, double: httpx.AsyncClient
) -> None:
    created = await cards.create_intent(_request("pm_card_chargeDeclinedInsufficientFunds"), _key())
    with pytest.raises(CardDeclined) as declined:
        await cards.confirm_intent(created.id, _key("confirm-intent"))
    assert declined.value.reason == "insufficient_funds"
    shown = await cards.retrieve_intent(created.id)
    assert (shown.status, shown.decline_reason) == (IntentStatus.DECLINED, "insufficient_funds")
    cancelled = await cards.cancel_intent(created.id, _key("close-intent"))
    assert (cancelled.status, cancelled.decline_reason) == (IntentStatus.CANCELLED, "insufficient_funds")
    with pytest.raises(IntentStateConflict):
        await cards.confirm_intent(created.id, _key("confirm-intent", token=2))


async def test_a_captured_intent_cannot_be_cancelled(cards: StripeCardProvider, double: httpx.AsyncClient) -> None:
    created = await cards.create_intent(_request(), _key())
    await cards.confirm_intent(created.id, _key("confirm-intent"))
    with pytest.raises(IntentStateConflict):
        await cards.cancel_intent(created.id, _key("close-intent"))


async def test_an_unusable_payment_method_is_a_decline(cards: StripeCardProvider, double: httpx.AsyncClient) -> None:
    with pytest.raises(CardDeclined) as declined:
        await cards.create_intent(_request("pm_nobody_has"), _key())
    assert declined.value.reason == "resource_missing"


@pytest.mark.parametrize(
    "request_", [_request(amount_minor=100_000_000), _request(currency="X1")], ids=["amount", "currency"]
)
async def test_a_request_that_the_provider_refuses_needs_review(
    cards: StripeCardProvider, double: httpx.AsyncClient, request_: IntentRequest
) -> None:
    with pytest.raises(NeedsReview):
        await cards.create_intent(request_, _key())


async def test_an_intent_that_the_provider_does_not_know_needs_review(
    cards: StripeCardProvider, double: httpx.AsyncClient
) -> None:
    with pytest.raises(NeedsReview) as refusal:
        await cards.retrieve_intent("pi_nobody_has")
    assert refusal.value.reason == "resource_missing"


@pytest.mark.parametrize("status", [401, 403, 409, 429, 500, 503])
async def test_what_says_nothing_about_the_effect_is_an_outage(
    cards: StripeCardProvider, double: httpx.AsyncClient, status: int
) -> None:
    rule = {"operation": "payment_intents.create", "times": 2, "outcome": "status", "status": status, "stored": False}
    (await double.post("/faults", json=rule)).raise_for_status()
    with pytest.raises(ProviderUnavailable):
        await cards.create_intent(_request(), _key())


async def test_a_dropped_answer_is_asked_for_again_with_the_same_key(
    cards: StripeCardProvider, double: httpx.AsyncClient
) -> None:
    rule = {"operation": "payment_intents.create", "outcome": "drop", "point": "after"}
    (await double.post("/faults", json=rule)).raise_for_status()
    key = _key()
    created = await cards.create_intent(_request(), key)
    calls = (await double.get("/ledger")).json()["calls"]
    assert [call["idempotency_key"] for call in calls] == [str(key), str(key)]
    assert [call["replayed"] for call in calls] == [False, True], "the repeated call must not make a second intent"
    assert calls[0]["intent"] == created.id


async def test_a_provider_that_is_away_is_an_outage(unused_address: str) -> None:
    provider = StripeCardProvider(api_key=API_KEY, api_base=unused_address)
    with pytest.raises(ProviderUnavailable):
        await provider.create_intent(_request(), _key())
    await provider.close()


async def test_a_provider_that_does_not_answer_is_an_outage_within_the_budget(
    cards: StripeCardProvider, double: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_provider, "CALL_BUDGET_SECONDS", 0.3)
    (await double.post("/faults", json={"operation": "payment_intents.create", "hold": True})).raise_for_status()
    with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.3 s"):
        await cards.create_intent(_request(), _key())


def test_all_calls_of_one_run_fit_into_the_deadline_of_the_job() -> None:
    # create, then in the worst case read, confirm, read; and read, cancel, read
    assert CapturePayment.kind.deadline_seconds > 7 * card_provider.CALL_BUDGET_SECONDS


async def test_wrong_credentials_are_an_outage_that_a_person_mends(provider_process: ProviderProcess) -> None:
    provider = StripeCardProvider(api_key="sk_test_wrong", api_base=provider_process.url)
    with pytest.raises(ProviderUnavailable) as refusal:
        await provider.retrieve_intent("pi_any")
    assert "sk_test" not in str(refusal.value)
    await provider.close()


@pytest.mark.parametrize("call", ["create", "confirm", "cancel", "retrieve"])
async def test_no_call_is_made_inside_a_transaction(
    cards: StripeCardProvider, double: httpx.AsyncClient, call: str
) -> None:
    calls: dict[str, Callable[[], Awaitable[Intent]]] = {
        "create": lambda: cards.create_intent(_request(), _key()),
        "confirm": lambda: cards.confirm_intent("pi_1", _key()),
        "cancel": lambda: cards.cancel_intent("pi_1", _key()),
        "retrieve": lambda: cards.retrieve_intent("pi_1"),
    }
    with transaction_is_open(), pytest.raises(ExternalCallInTransaction):
        await calls[call]()
    assert (await double.get("/ledger")).json()["calls"] == []
