"""The payment service over HTTP, on a real database."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from payment_lab import PaymentLab
from pydantic import SecretStr

from payment_service.bootstrap import build_api
from payment_service.settings import PaymentSettings
from service_platform.settings import Environment

KEY = ec.generate_private_key(ec.SECP256R1())


def caller(scope: str = "payments:read_all", **headers: str) -> dict[str, str]:
    now = int(time.time())
    claims = {"sub": "eve", "scope": scope, "iss": "https://issuer.example/", "aud": "fencepost"}
    token = jwt.encode(claims | {"iat": now, "exp": now + 60}, KEY, algorithm="ES256", headers={"kid": "1"})
    return {"Authorization": f"Bearer {token}"} | headers


@pytest.fixture
async def api(lab: PaymentLab, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    keys = tmp_path / "jwks.json"
    keys.write_text(json.dumps({"keys": [json.loads(ECAlgorithm.to_jwk(KEY.public_key())) | {"kid": "1"}]}))
    address = lab.database.address
    settings = PaymentSettings(
        environment=Environment.DEVELOPMENT,
        service_name="payment",
        database_host=address.host,
        database_port=address.port,
        database_name=address.name,
        database_user=address.user,
        database_password=SecretStr(address.password),
        kafka_bootstrap_servers="none",
        redis_host="none",
        redis_password=SecretStr("none"),
        jwt_issuer="https://issuer.example/",
        jwt_audience="fencepost",
        jwt_jwks_url=keys.as_uri(),
        stripe_api_base="http://127.0.0.1:1",
        stripe_api_key=SecretStr("none"),
    )
    app = build_api(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://payment") as client,
    ):
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
