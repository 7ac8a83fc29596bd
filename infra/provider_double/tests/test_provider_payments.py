"""Payment intents and refunds, driven by the official SDK."""

from typing import Any

import httpx
import pytest
import stripe

from provider_double.testing import API_KEY, ProviderProcess

CARD = {"allowed_payment_method_types": ["card"]}


async def _intent(sdk: stripe.StripeClient, amount: int = 1250, **metadata: str) -> stripe.PaymentIntent:
    return await sdk.v1.payment_intents.create_async(
        {"amount": amount, "currency": "USD", "allowed_payment_method_types": ["card"], "metadata": metadata}
    )


async def _captured(sdk: stripe.StripeClient, amount: int = 1250) -> stripe.PaymentIntent:
    intent = await _intent(sdk, amount)
    return await sdk.v1.payment_intents.confirm_async(intent.id, {"payment_method": "pm_card_visa"})


async def test_an_intent_is_created_then_confirmed_and_stays_succeeded(sdk: stripe.StripeClient) -> None:
    created = await _intent(sdk, 1250, payment_id="pay-1", order_id="ord-1")
    assert (created.status, created.currency, created.amount_received) == ("requires_payment_method", "usd", 0)

    confirmed = await sdk.v1.payment_intents.confirm_async(created.id, {"payment_method": "pm_card_visa"})
    assert (confirmed.status, confirmed.amount_received) == ("succeeded", 1250)

    retrieved = await sdk.v1.payment_intents.retrieve_async(created.id)
    assert retrieved.to_dict() == confirmed.to_dict()
    assert retrieved.metadata.to_dict() == {"payment_id": "pay-1", "order_id": "ord-1"}


async def test_create_can_confirm_at_once(sdk: stripe.StripeClient) -> None:
    intent = await sdk.v1.payment_intents.create_async(
        {
            "amount": 700,
            "currency": "jpy",
            "confirm": True,
            "payment_method": "pm_card_visa",
            "allowed_payment_method_types": ["card"],
        }
    )
    assert intent.status == "succeeded"


@pytest.mark.parametrize(
    ("method", "decline_code"),
    [
        ("pm_card_chargeDeclined", "generic_decline"),
        ("pm_card_chargeDeclinedInsufficientFunds", "insufficient_funds"),
    ],
)
async def test_a_declined_intent_can_be_confirmed_again(
    sdk: stripe.StripeClient, method: str, decline_code: str
) -> None:
    intent = await _intent(sdk)
    with pytest.raises(stripe.CardError) as declined:
        await sdk.v1.payment_intents.confirm_async(intent.id, {"payment_method": method})
    error = declined.value
    assert (error.http_status, error.code) == (402, "card_declined")
    assert error.error is not None
    assert error.error.decline_code == decline_code
    assert error.error.payment_intent is not None
    assert error.error.payment_intent.status == "requires_payment_method"

    stored = await sdk.v1.payment_intents.retrieve_async(intent.id)
    assert (stored.status, stored.payment_method) == ("requires_payment_method", None)
    assert stored.last_payment_error is not None
    assert stored.last_payment_error.decline_code == decline_code

    again = await sdk.v1.payment_intents.confirm_async(intent.id, {"payment_method": "pm_card_visa"})
    assert (again.status, again.last_payment_error) == ("succeeded", None)


async def test_a_succeeded_intent_refuses_confirm_and_cancel(sdk: stripe.StripeClient) -> None:
    intent = await _captured(sdk)
    with pytest.raises(stripe.InvalidRequestError, match="already succeeded") as confirm:
        await sdk.v1.payment_intents.confirm_async(intent.id, {"payment_method": "pm_card_visa"})
    with pytest.raises(stripe.InvalidRequestError, match="status of succeeded") as cancel:
        await sdk.v1.payment_intents.cancel_async(intent.id)
    for refused in (confirm.value, cancel.value):
        assert (refused.http_status, refused.code) == (400, "payment_intent_unexpected_state")
        assert refused.error is not None
        assert refused.error.payment_intent is not None
        assert refused.error.payment_intent.id == intent.id


async def test_a_canceled_intent_can_never_be_confirmed(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    intent = await _intent(sdk)
    canceled = await sdk.v1.payment_intents.cancel_async(intent.id, {"cancellation_reason": "abandoned"})
    assert (canceled.status, canceled.cancellation_reason) == ("canceled", "abandoned")
    for attempt in (sdk.v1.payment_intents.confirm_async, sdk.v1.payment_intents.cancel_async):
        with pytest.raises(stripe.InvalidRequestError, match="status of canceled"):
            await attempt(intent.id)
    assert (await double.get("/ledger/sums")).json() == []


async def test_a_confirm_without_a_payment_method_is_refused(sdk: stripe.StripeClient) -> None:
    intent = await _intent(sdk)
    with pytest.raises(stripe.InvalidRequestError, match="missing a payment method"):
        await sdk.v1.payment_intents.confirm_async(intent.id)


async def test_without_method_types_a_confirm_needs_a_return_url(sdk: stripe.StripeClient) -> None:
    intent = await sdk.v1.payment_intents.create_async({"amount": 100, "currency": "eur"})
    with pytest.raises(stripe.InvalidRequestError, match="return_url"):
        await sdk.v1.payment_intents.confirm_async(intent.id, {"payment_method": "pm_card_visa"})
    confirmed = await sdk.v1.payment_intents.confirm_async(
        intent.id, {"payment_method": "pm_card_visa", "return_url": "https://shop.example/done"}
    )
    assert confirmed.status == "succeeded"


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"amount": 0}, "amount"),
        ({"amount": -5}, "amount"),
        ({"amount": 100_000_000}, "amount"),
        ({"amount": "12.50"}, "amount"),
        ({"currency": "dollars"}, "currency"),
        ({"payment_method_types": ["card"]}, "payment_method_types"),
        ({"payment_method": "pm_unknown"}, "payment_method"),
        ({"metadata": {"key": "x" * 501}}, "metadata"),
        ({"capture_method": "manual"}, "capture_method"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_a_wrong_parameter_is_refused_and_named(
    sdk: stripe.StripeClient, wrong: dict[str, object], param: str
) -> None:
    params = {"amount": 100, "currency": "eur", **CARD, **wrong}
    with pytest.raises(stripe.InvalidRequestError) as refused:
        await sdk.raw_request_async("post", "/v1/payment_intents", **params)
    assert (refused.value.http_status, refused.value.param) == (400, param)
    assert not (await sdk.v1.payment_intents.list_async()).data


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("payment_intents", "amount currency confirm payment_method capture_method confirmation_method description"),
        ("payment_intents", "metadata[payment_id] automatic_payment_methods[allow_redirects]"),
        ("payment_intents/{intent}/confirm", "payment_method"),
        ("payment_intents/{intent}/cancel", "cancellation_reason"),
        ("refunds", "payment_intent amount reason metadata[payment_id]"),
    ],
)
async def test_an_object_where_a_value_belongs_is_refused(
    provider_process: ProviderProcess, sdk: stripe.StripeClient, path: str, names: str
) -> None:
    intent = (await _captured(sdk) if path == "refunds" else await _intent(sdk)).id
    valid = {"payment_intents": {"amount": "1", "currency": "usd"}, "refunds": {"payment_intent": intent}}.get(path, {})
    async with httpx.AsyncClient(
        verify=False, base_url=f"{provider_process.url}/v1/", headers={"Authorization": f"Bearer {API_KEY}"}
    ) as client:
        for name in names.split():
            form = {**{key: value for key, value in valid.items() if key != name}, f"{name}[x]": "1"}
            answer = await client.post(path.format(intent=intent), data=form)
            assert answer.status_code == 400, f"{form}: {answer.text}"
            assert answer.json()["error"]["param"] == name.split("[")[0]


@pytest.mark.parametrize("query", ["starting_after[x]=1", "limit[x]=1", "created[gt][x]=1", "created=x", "limit=0"])
@pytest.mark.parametrize("listing", ["payment_intents", "refunds"])
async def test_a_list_refuses_bounds_that_are_none(provider_process: ProviderProcess, listing: str, query: str) -> None:
    async with httpx.AsyncClient(verify=False, headers={"Authorization": f"Bearer {API_KEY}"}) as client:
        assert (await client.get(f"{provider_process.url}/v1/{listing}?{query}")).status_code == 400


async def test_unknown_objects_and_addresses_are_404(sdk: stripe.StripeClient) -> None:
    with pytest.raises(stripe.InvalidRequestError) as missing:
        await sdk.v1.payment_intents.retrieve_async("pi_nothing")
    assert (missing.value.http_status, missing.value.code) == (404, "resource_missing")
    with pytest.raises(stripe.InvalidRequestError, match="Unrecognized request URL") as unknown:
        await sdk.v1.customers.list_async()
    assert unknown.value.http_status == 404


async def test_a_wrong_or_missing_key_is_401(provider_process: ProviderProcess) -> None:
    async with httpx.AsyncClient(verify=False, base_url=provider_process.url) as client:
        for headers in ({}, {"Authorization": "Bearer sk_other"}, {"Authorization": API_KEY}):
            answer = await client.get("/v1/payment_intents", headers=headers)
            assert (answer.status_code, answer.json()["error"]["type"]) == (401, "invalid_request_error")


async def test_lists_are_paged_newest_first(sdk: stripe.StripeClient) -> None:
    made = [(await _intent(sdk, amount)).id for amount in range(1, 8)]
    first = await sdk.v1.payment_intents.list_async({"limit": 3})
    assert ([intent.id for intent in first.data], first.has_more) == (made[:3:-1], True)
    everything = [intent.id async for intent in first.auto_paging_iter()]
    assert everything == made[::-1]
    before = await sdk.v1.payment_intents.list_async({"limit": 2, "ending_before": made[0]})
    assert [intent.id for intent in before.data] == [made[2], made[1]]
    with pytest.raises(stripe.InvalidRequestError):
        await sdk.v1.payment_intents.list_async({"starting_after": "pi_nothing"})


async def test_lists_can_be_bounded_by_creation(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    old = await _intent(sdk)
    await double.post("/clock", json={"shift_seconds": 600})
    new = await _intent(sdk)
    younger = await sdk.v1.payment_intents.list_async({"created": {"gt": old.created + 300}})
    older = await sdk.v1.payment_intents.list_async({"created": {"lte": new.created - 300}})
    assert ([i.id for i in younger.data], [i.id for i in older.data]) == ([new.id], [old.id])


async def test_refunds_never_exceed_what_was_captured(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    intent = await _captured(sdk, 1000)
    part = await sdk.v1.refunds.create_async({"payment_intent": intent.id, "amount": 400, "metadata": {"n": "1"}})
    assert (part.status, part.amount, part.payment_intent) == ("succeeded", 400, intent.id)
    with pytest.raises(stripe.InvalidRequestError, match="greater than unrefunded amount") as too_much:
        await sdk.v1.refunds.create_async({"payment_intent": intent.id, "amount": 601})
    assert too_much.value.param == "amount"
    rest = await sdk.v1.refunds.create_async({"payment_intent": intent.id})
    assert rest.amount == 600
    with pytest.raises(stripe.InvalidRequestError) as nothing_left:
        await sdk.v1.refunds.create_async({"payment_intent": intent.id})
    assert nothing_left.value.code == "charge_already_refunded"

    listed = await sdk.v1.refunds.list_async({"payment_intent": intent.id})
    assert [refund.id for refund in listed.data] == [rest.id, part.id]
    assert (await sdk.v1.refunds.retrieve_async(part.id)).to_dict() == part.to_dict()
    sums = (await double.get("/ledger/sums", params={"intent": intent.id})).json()
    assert [(row["captured"], row["refunded"], row["net"]) for row in sums] == [(1000, 1000, 0)]


async def test_an_intent_without_a_capture_cannot_be_refunded(sdk: stripe.StripeClient) -> None:
    intent = await _intent(sdk)
    with pytest.raises(stripe.InvalidRequestError, match="does not have a successful charge"):
        await sdk.v1.refunds.create_async({"payment_intent": intent.id})


async def test_search_sees_neither_intents_nor_states_younger_than_its_delay(
    sdk: stripe.StripeClient, double: httpx.AsyncClient
) -> None:
    await double.put("/search", json={"delay_seconds": 60})
    intent = await _intent(sdk, 500, payment_id="pay-7")
    by_payment: Any = {"query": "metadata['payment_id']:'pay-7'"}
    assert not (await sdk.v1.payment_intents.search_async(by_payment)).data

    await double.post("/clock", json={"shift_seconds": 61})
    await sdk.v1.payment_intents.confirm_async(intent.id, {"payment_method": "pm_card_visa"})
    seen = (await sdk.v1.payment_intents.search_async(by_payment)).data
    assert [(found.id, found.status) for found in seen] == [(intent.id, "requires_payment_method")]

    await double.post("/clock", json={"shift_seconds": 61})
    succeeded: Any = {"query": "metadata['payment_id']:'pay-7' AND status:'succeeded'"}
    assert [found.id for found in (await sdk.v1.payment_intents.search_async(succeeded)).data] == [intent.id]
    with pytest.raises(stripe.InvalidRequestError, match="unable to parse"):
        await sdk.v1.payment_intents.search_async({"query": "amount>100"})


async def test_search_is_paged(sdk: stripe.StripeClient) -> None:
    made = [(await _intent(sdk, amount, shop="a")).id for amount in range(1, 6)]
    first = await sdk.v1.payment_intents.search_async({"query": "metadata['shop']:'a'", "limit": 2})
    assert [intent.id async for intent in first.auto_paging_iter()] == made[::-1]
