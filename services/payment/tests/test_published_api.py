"""Every request of the adapter is one that the card provider's published API takes; stripe-mock knows its schema."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from uuid import uuid4

import httpx
import pytest
import stripe_mock

from native.testing import program_or_skip
from payment_service.domain.payments import CardProvider, IntentRequest, ProviderError, RefundRequest
from payment_service.integrations import StripeCardProvider
from service_platform.jobs import RunKey
from service_platform.jobs.run import CLAIMED

_API_KEY = "sk_test_123"
_SINCE = datetime(2026, 3, 1, tzinfo=UTC)

Request = Callable[[StripeCardProvider], Awaitable[object]]


@pytest.fixture(scope="session")
def published_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = program_or_skip(stripe_mock.STRIPE_MOCK)
    with stripe_mock.running(program, tmp_path_factory.mktemp("stripe-mock") / "log") as address:
        yield address


@pytest.fixture
async def cards(published_api: str) -> AsyncIterator[StripeCardProvider]:
    provider = StripeCardProvider(api_key=_API_KEY, api_base=published_api)
    yield provider
    await provider.close()


def _key(step: str) -> RunKey:
    return RunKey(CLAIMED, job_id=uuid4(), step=step, token=1)


def _intent(currency: str) -> IntentRequest:
    return IntentRequest(
        payment_id=uuid4(), order_id=uuid4(), amount_minor=1999, currency=currency, payment_method="pm_card_visa"
    )


def _refund() -> RefundRequest:
    return RefundRequest(refund_id=uuid4(), payment_id=uuid4(), intent_id="pi_123", amount_minor=700)


REQUESTS: dict[str, Request] = {
    "create_intent": lambda cards: cards.create_intent(_intent("EUR"), _key("create-intent")),
    "create_intent, no decimals": lambda cards: cards.create_intent(_intent("JPY"), _key("create-intent")),
    "create_intent, three decimals": lambda cards: cards.create_intent(_intent("KWD"), _key("create-intent")),
    "confirm_intent": lambda cards: cards.confirm_intent("pi_123", _key("confirm-intent")),
    "cancel_intent": lambda cards: cards.cancel_intent("pi_123", _key("cancel-intent")),
    "retrieve_intent": lambda cards: cards.retrieve_intent("pi_123"),
    "list_intents": lambda cards: cards.list_intents(_SINCE),
    "list_intents, next page": lambda cards: cards.list_intents(_SINCE, "pi_123"),
    "create_refund": lambda cards: cards.create_refund(_refund(), _key("refund")),
    "retrieve_refund": lambda cards: cards.retrieve_refund("re_123"),
    "list_refunds of an intent": lambda cards: cards.list_refunds(intent_id="pi_123"),
    "list_refunds since, next page": lambda cards: cards.list_refunds(since=_SINCE, after="re_123"),
}


def test_every_kind_of_request_is_tried_here() -> None:
    calls = {name for name in vars(CardProvider) if not name.startswith("_")}
    assert {name.split(",")[0].split(" ")[0] for name in REQUESTS} == calls


@pytest.mark.parametrize("request_name", REQUESTS)
async def test_the_published_api_takes_a_request(cards: StripeCardProvider, request_name: str) -> None:
    try:
        await REQUESTS[request_name](cards)
    except ProviderError as refused:
        pytest.fail(f"{refused}: {refused.__cause__}")


async def test_what_the_published_api_does_not_know_is_refused(published_api: str) -> None:
    """If everything passed here, the tests above would say nothing."""
    async with httpx.AsyncClient(base_url=published_api, headers={"Authorization": f"Bearer {_API_KEY}"}) as client:
        answer = await client.post(
            "/v1/payment_intents", data={"amount": "1", "currency": "eur", "payment_id": "no such parameter"}
        )
    assert answer.status_code == 400
    assert "additional properties are not allowed" in answer.text
