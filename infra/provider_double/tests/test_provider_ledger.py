"""What the judge says of the calls that came and the money that moved."""

from typing import Any

import httpx
import stripe


async def _pay(sdk: stripe.StripeClient, number: int) -> str:
    params: Any = {
        "amount": 100 * number,
        "currency": "usd" if number % 2 else "kwd",
        "allowed_payment_method_types": ["card"],
        "metadata": {"payment_id": f"pay-{number}", "order_id": f"ord-{number}"},
    }
    intent = await sdk.v1.payment_intents.create_async(params)
    await sdk.v1.payment_intents.confirm_async(intent.id, {"payment_method": "pm_card_visa"})
    return intent.id


async def test_cursors_walk_over_all_calls_and_moves_once(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    intents = [await _pay(sdk, number) for number in range(1, 5)]
    calls: list[dict[str, Any]] = []
    moves: list[dict[str, Any]] = []
    cursor = {"calls_after": 0, "moves_after": 0}
    while True:
        page = (await double.get("/ledger", params={**cursor, "limit": 3})).json()
        if not page["calls"] and not page["moves"]:
            break
        calls += page["calls"]
        moves += page["moves"]
        cursor = {"calls_after": page["calls_cursor"], "moves_after": page["moves_cursor"]}
    assert [call["operation"] for call in calls] == ["payment_intents.create", "payment_intents.confirm"] * 4
    assert [move["intent"] for move in moves] == intents
    assert [move["amount"] for move in moves] == [100, 200, 300, 400]
    assert {move["call"] for move in moves} == {call["seq"] for call in calls if call["moved_money"]}


async def test_a_cursor_stays_valid_over_a_reset(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    await _pay(sdk, 1)
    seen = (await double.get("/ledger")).json()
    await double.post("/reset")
    await _pay(sdk, 2)
    since = {"calls_after": seen["calls_cursor"], "moves_after": seen["moves_cursor"]}
    assert [move["payment_id"] for move in (await double.get("/ledger", params=since)).json()["moves"]] == ["pay-2"]


async def test_every_call_of_a_payment_is_found_by_its_metadata(
    sdk: stripe.StripeClient, double: httpx.AsyncClient
) -> None:
    intent = await _pay(sdk, 1)
    await _pay(sdk, 2)
    await sdk.v1.refunds.create_async({"payment_intent": intent, "amount": 40})
    await sdk.v1.payment_intents.retrieve_async(intent)
    for subject in ({"payment_id": "pay-1"}, {"order_id": "ord-1"}, {"intent": intent}):
        found = (await double.get("/ledger", params=subject)).json()
        assert [call["operation"] for call in found["calls"]] == [
            "payment_intents.create",
            "payment_intents.confirm",
            "refunds.create",
            "payment_intents.retrieve",
        ]
        assert [(move["kind"], move["amount"]) for move in found["moves"]] == [("capture", 100), ("refund", 40)]
        assert (await double.get("/ledger/sums", params=subject)).json() == [
            {
                "currency": "usd",
                "captured": 100,
                "refunded": 40,
                "net": 60,
                "captures": 1,
                "refunds": 1,
                "intents": 1,
            }
        ]
    refunds = (await double.get("/ledger", params={"kind": "refund"})).json()["moves"]
    assert [move["amount"] for move in refunds] == [40]


async def test_sums_are_kept_apart_by_currency(sdk: stripe.StripeClient, double: httpx.AsyncClient) -> None:
    for number in range(1, 5):
        await _pay(sdk, number)
    sums = (await double.get("/ledger/sums")).json()
    assert [(row["currency"], row["captured"], row["captures"]) for row in sums] == [("kwd", 600, 2), ("usd", 400, 2)]
