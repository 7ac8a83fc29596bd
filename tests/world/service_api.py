"""A service's HTTP application inside a test's process, and callers that it believes."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from fastapi import FastAPI
from jwt.algorithms import ECAlgorithm
from pydantic import SecretStr

from service_platform.database import DatabaseAddress
from service_platform.settings import Environment

_KEY: Final = ec.generate_private_key(ec.SECP256R1())
_ISSUER: Final = "https://issuer.example/"
_AUDIENCE: Final = "fencepost"


def bearer(subject: str, scopes: str, **headers: str) -> dict[str, str]:
    """The headers of a caller with a good token, and `headers`."""
    now = int(time.time())
    claims = {"sub": subject, "scope": scopes, "iss": _ISSUER, "aud": _AUDIENCE, "iat": now, "exp": now + 60}
    token = jwt.encode(claims, _KEY, algorithm="ES256", headers={"kid": "1"})
    return {"Authorization": f"Bearer {token}"} | headers


def api_settings(service: str, address: DatabaseAddress, folder: Path) -> dict[str, Any]:
    """What the settings of every service need: its database, the key of `bearer`, and nothing else to reach.

    The key lies in `folder`.
    """
    keys = folder / "jwks.json"
    keys.write_text(json.dumps({"keys": [json.loads(ECAlgorithm.to_jwk(_KEY.public_key())) | {"kid": "1"}]}))
    return {
        "environment": Environment.DEVELOPMENT,
        "service_name": service,
        "database_host": address.host,
        "database_port": address.port,
        "database_name": address.name,
        "database_user": address.user,
        "database_password": SecretStr(address.password),
        "kafka_bootstrap_servers": "none",
        "redis_host": "none",
        "redis_password": SecretStr("none"),
        "rate_limit": "off",
        "jwt_issuer": _ISSUER,
        "jwt_audience": _AUDIENCE,
        "jwt_jwks_url": keys.as_uri(),
    }


@contextlib.asynccontextmanager
async def client_of(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application, without a server between, while it lives."""
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client,
    ):
        yield client
