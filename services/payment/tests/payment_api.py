"""The payment service's HTTP application on a lab's database, and callers of it."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from payment_lab import PaymentLab
from pydantic import SecretStr

from payment_service.bootstrap import build_api
from payment_service.settings import PaymentSettings
from service_platform.settings import Environment

KEY = ec.generate_private_key(ec.SECP256R1())


def caller(scope: str = "payments:read_all", **headers: str) -> dict[str, str]:
    """The headers of somebody with that scope."""
    now = int(time.time())
    claims = {"sub": "eve", "scope": scope, "iss": "https://issuer.example/", "aud": "fencepost"}
    token = jwt.encode(claims | {"iat": now, "exp": now + 60}, KEY, algorithm="ES256", headers={"kid": "1"})
    return {"Authorization": f"Bearer {token}"} | headers


@contextlib.asynccontextmanager
async def payment_api(
    lab: PaymentLab,
    folder: Path,
    *,
    webhook_secret: str = "whsec_none",
    provider: tuple[str, str] = ("http://127.0.0.1:1", "none"),
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application, composed as its own process does. `provider`: address and key of the provider."""
    keys = folder / "jwks.json"
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
        rate_limit="off",
        jwt_issuer="https://issuer.example/",
        jwt_audience="fencepost",
        jwt_jwks_url=keys.as_uri(),
        stripe_api_base=provider[0],
        stripe_api_key=SecretStr(provider[1]),
        stripe_webhook_secret=SecretStr(webhook_secret),
    )
    app = build_api(settings).app
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://payment") as client,
    ):
        yield client
