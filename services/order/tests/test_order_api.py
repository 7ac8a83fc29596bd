"""The order service over HTTP, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from order_service.bootstrap import build_api
from order_service.settings import OrderSettings
from service_platform.database import Database
from world.service_api import api_settings, bearer, client_of

BODY = {
    "lines": [{"sku": "TEA-1", "quantity": 2, "unit_price_minor": 1_250, "tax_rate_bp": 1_000}],
    "currency": "USD",
    "customer_email": "ann@example.com",
    "payment_method": "pm_card_visa",
}


def caller(subject: str, scope: str = "orders:write orders:read", **headers: str) -> dict[str, str]:
    return bearer(subject, scope, **headers)


@pytest.fixture
async def api(order_database: Database, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    settings = OrderSettings(**api_settings("order", order_database.address, tmp_path))
    async with client_of(build_api(settings).app) as client:
        yield client


async def place(api: httpx.AsyncClient, subject: str, key: str, **changes: Any) -> httpx.Response:
    return await api.post("/orders", json=BODY | changes, headers=caller(subject, **{"Idempotency-Key": key}))


async def test_an_order_is_answered_with_its_address_and_again_for_the_same_key(api: httpx.AsyncClient) -> None:
    first = await place(api, "ann", "1")
    assert first.status_code == 201, first.text
    assert first.headers["Location"] == f"/orders/{first.json()['id']}"
    again = await place(api, "ann", "1")
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (again.status_code, again.json(), again.headers["Location"]) == (
        201,
        first.json(),
        first.headers["Location"],
    )
    read = await api.get(first.headers["Location"], headers=caller("ann"))
    assert read.json() == first.json()


async def test_a_customer_sees_their_own_orders_only_and_staff_sees_all(api: httpx.AsyncClient) -> None:
    anns = (await place(api, "ann", "1")).json()["id"]
    bobs = (await place(api, "bob", "1")).json()["id"]
    assert (await api.get(f"/orders/{anns}", headers=caller("bob"))).status_code == 404
    assert [row["id"] for row in (await api.get("/orders", headers=caller("bob"))).json()["items"]] == [bobs]
    staff = caller("eve", "orders:read orders:read_all")
    assert (await api.get(f"/orders/{anns}", headers=staff)).status_code == 200
    assert {row["id"] for row in (await api.get("/orders", headers=staff)).json()["items"]} == {anns, bobs}


async def test_pages_show_every_order_once_newest_first(api: httpx.AsyncClient) -> None:
    placed = [(await place(api, "ann", str(number))).json()["id"] for number in range(5)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        wanted = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await api.get("/orders", params=wanted, headers=caller("ann"))).json()
        seen += [row["id"] for row in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == placed[::-1]


@pytest.mark.parametrize(
    ("changes", "slug"),
    [
        ({"currency": "XAU"}, "unknown-currency"),
        (
            {
                "lines": [
                    BODY["lines"][0]
                    | {
                        "quantity": 10_000,  # type: ignore[index]
                        "unit_price_minor": 10**9,
                    }
                ]
            },
            "total-too-large",
        ),
    ],
)
async def test_a_rule_that_refuses_an_order_is_named(
    api: httpx.AsyncClient, changes: dict[str, Any], slug: str
) -> None:
    refused = await place(api, "ann", "1", **changes)
    assert refused.status_code == 422
    assert slug in refused.json()["type"]


async def test_the_scope_is_needed(api: httpx.AsyncClient) -> None:
    headers = caller("ann", "orders:read") | {"Idempotency-Key": "1"}
    assert (await api.post("/orders", json=BODY, headers=headers)).status_code == 403
    assert (await api.post("/orders", json=BODY, headers={"Idempotency-Key": "1"})).status_code == 401


async def test_a_cancel_answers_the_cancelling_order_and_a_strangers_is_not_found(api: httpx.AsyncClient) -> None:
    order = (await place(api, "ann", "1")).json()
    address = f"/orders/{order['id']}/cancel"
    assert (await api.post(address, headers=caller("bob"))).status_code == 404
    assert (await api.post(address, headers=caller("eve", "orders:write orders:read_all"))).status_code == 404
    assert (await api.post(address, headers=caller("ann", "orders:read"))).status_code == 403
    for _ in range(2):
        answer = await api.post(address, headers=caller("ann"))
        assert (answer.status_code, answer.json()["status"]) == (202, "cancelling")
    assert answer.json() == (await api.get(f"/orders/{order['id']}", headers=caller("ann"))).json()


async def test_a_list_is_narrowed_by_state_and_time_and_keeps_its_filters_over_pages(api: httpx.AsyncClient) -> None:
    ids = [(await place(api, "ann", str(number))).json()["id"] for number in range(3)]
    cancelled = [ids[0], ids[2]]
    for order_id in cancelled:
        await api.post(f"/orders/{order_id}/cancel", headers=caller("ann"))
    wanted: dict[str, Any] = {"status": ["cancelling", "cancelled"], "limit": 1, "placed_from": "2026-01-01T00:00:00Z"}
    first = (await api.get("/orders", params=wanted, headers=caller("ann"))).json()
    second = (await api.get("/orders", params=wanted | {"cursor": first["next_cursor"]}, headers=caller("ann"))).json()
    assert [row["id"] for row in first["items"] + second["items"]] == cancelled[::-1]
    assert second["next_cursor"] is None
    long_ago = {"placed_before": "2026-01-01T07:00:00+07:00"}
    assert (await api.get("/orders", params=long_ago, headers=caller("ann"))).json()["items"] == []
    assert (await api.get("/orders", params=wanted, headers=caller("bob"))).json()["items"] == []


@pytest.mark.parametrize(
    "wanted",
    [
        {"status": "unknown"},
        {"status": ["paid"] * 6},
        {"placed_from": "2026-01-01T00:00:00"},  # of which clock?
        {"placed_from": "0001-01-01T00:00:00+14:00"},
        {"placed_before": "9999-12-31T23:59:59-14:00"},
        {"placed_before": "yesterday"},
        {"limit": 0},
        {"limit": 101},
        {"cursor": "made-up"},
    ],
    ids=str,
)
async def test_a_filter_that_means_nothing_is_refused(api: httpx.AsyncClient, wanted: dict[str, Any]) -> None:
    assert (await api.get("/orders", params=wanted, headers=caller("ann"))).status_code == 422
