"""The payment service over HTTP, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from payment_api import caller, payment_api
from payment_lab import PaymentLab


@pytest.fixture
async def api(lab: PaymentLab, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with payment_api(lab, tmp_path) as client:
        yield client


async def test_a_payment_is_shown_to_staff_without_its_payment_method(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    order_id = await lab.placed()
    await lab.deliver()
    (item,) = (await api.get("/payments", headers=caller())).json()["items"]
    stored = await lab.payment()
    assert item == {
        "id": str(stored["id"]),
        "order_id": str(order_id),
        "status": "settled",
        "amount_minor": 1999,
        "currency": "EUR",
        "provider_reference": stored["intent_id"],
        "reason": None,
        "refunded_minor": 0,
        "refund_reserved_minor": 0,
        "refundable_minor": 1999,
        "created_at": item["created_at"],
        "concluded_at": item["concluded_at"],
    }
    assert (await api.get(f"/payments/{item['id']}", headers=caller())).json() == item


async def test_pages_show_every_payment_once_newest_first(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    placed = [str(await lab.placed(total_minor=0)) for _ in range(5)]
    seen: list[str] = []
    cursor: str | None = None
    while cursor is not None or not seen:
        wanted = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await api.get("/payments", params=wanted, headers=caller())).json()
        seen += [row["order_id"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert seen == placed[::-1]


async def test_a_payment_that_is_not_there_is_a_problem_in_the_readers_language(api: httpx.AsyncClient) -> None:
    answer = await api.get(f"/payments/{uuid4()}", headers=caller(**{"Accept-Language": "vi"}))
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert answer.json()["title"] == "Không có khoản thanh toán này"


@pytest.mark.parametrize("path", ["/payments", "/payments/3da250a0-075f-4034-9a07-04a37c947281"])
async def test_payments_are_for_staff_only(api: httpx.AsyncClient, path: str) -> None:
    assert (await api.get(path)).status_code == 401
    assert (await api.get(path, headers=caller("orders:read"))).status_code == 403


async def ask(
    api: httpx.AsyncClient, payment_id: object, body: dict[str, Any], *, key: str | None = None
) -> httpx.Response:
    headers = caller("payments:refund", **{"Idempotency-Key": key or str(uuid4())})
    return await api.post(f"/payments/{payment_id}/refunds", json=body, headers=headers)


async def test_a_refund_is_reserved_answered_with_its_address_and_shown(
    lab: PaymentLab, api: httpx.AsyncClient
) -> None:
    payment = await lab.settled()
    answer = await ask(api, payment["id"], {"amount_minor": 700})
    assert answer.status_code == 201
    assert (answer.json()["status"], answer.json()["amount_minor"]) == ("reserved", 700)
    shown = await api.get(answer.headers["location"], headers=caller())
    assert shown.json() == answer.json()
    await lab.deliver()
    (listed,) = (await api.get(f"/payments/{payment['id']}/refunds", headers=caller())).json()["items"]
    assert (listed["id"], listed["status"]) == (answer.json()["id"], "done")
    payment_shown = (await api.get(f"/payments/{payment['id']}", headers=caller())).json()
    assert (payment_shown["refunded_minor"], payment_shown["refundable_minor"]) == (700, 1299)


async def test_one_key_makes_one_refund_and_another_body_is_refused(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    payment = await lab.settled()
    first = await ask(api, payment["id"], {"amount_minor": 700}, key="k")
    again = await ask(api, payment["id"], {"amount_minor": 700}, key="k")
    assert (again.status_code, again.json()) == (201, first.json())
    assert (await ask(api, payment["id"], {"amount_minor": 1}, key="k")).status_code == 422
    assert len(await lab.refunds()) == 1


async def test_more_than_is_left_is_a_conflict_that_says_what_is(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    payment = await lab.settled()
    await ask(api, payment["id"], {"amount_minor": 1500})
    answer = await ask(api, payment["id"], {"amount_minor": 500})
    assert answer.status_code == 409
    assert (answer.json()["type"].rpartition("/")[2].rpartition(":")[2], answer.json()["refundable_minor"]) == (
        "refund-exceeds-capture",
        499,
    )


async def test_what_is_not_captured_yet_is_a_conflict(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    await lab.placed()
    answer = await ask(api, (await lab.payment())["id"], {})
    assert (answer.status_code, answer.json()["payment_status"]) == (409, "created")


@pytest.mark.parametrize(
    "body",
    [{"amount_minor": 0}, {"amount_minor": -1}, {"amount_minor": 1.5}, {"amount_minor": "1"}, {"amount": 1},
     {"amount_minor": 10**12}],
)  # fmt: skip
async def test_an_amount_is_a_whole_number_above_zero(api: httpx.AsyncClient, body: dict[str, Any]) -> None:
    assert (await ask(api, "3da250a0-075f-4034-9a07-04a37c947281", body)).status_code == 422


async def test_refunding_needs_its_own_scope_and_a_key(lab: PaymentLab, api: httpx.AsyncClient) -> None:
    payment = await lab.settled()
    path = f"/payments/{payment['id']}/refunds"
    assert (await api.post(path, json={})).status_code == 401
    assert (await api.post(path, json={}, headers=caller("payments:read_all"))).status_code == 403
    assert (await api.post(path, json={}, headers=caller("payments:refund"))).status_code == 400
    assert (await api.get(path, headers=caller("payments:refund"))).status_code == 403
    assert (await api.get(f"{path}/{uuid4()}", headers=caller())).status_code == 404
    assert await lab.refunds() == []
