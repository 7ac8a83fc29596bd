"""What the tests of the HTTP edge share: settings, keys, tokens, and a client in front of an application."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from fastapi import APIRouter, FastAPI
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from pydantic import BaseModel, Field, SecretStr

from service_platform.http import Principal, create_app, require
from service_platform.settings import Environment, ServiceSettings

ISSUER = "https://fencepost.local/"
AUDIENCE = "fencepost"

RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def public_jwk(key: PrivateKey, key_id: str, **more: str) -> dict[str, Any]:
    """A key's public half as it stands in a key set."""
    algorithm = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    return json.loads(algorithm.to_jwk(key.public_key())) | {"kid": key_id, "use": "sig"} | more


def write_keys(folder: Path, *keys: dict[str, Any]) -> str:
    """A key set in a file; its address."""
    file = folder / "jwks.json"
    file.write_text(json.dumps({"keys": keys}))
    return file.as_uri()


def claims(**changes: Any) -> dict[str, Any]:
    """The claims of a good token, with changes; None takes a claim away."""
    now = int(time.time())
    good = {
        "sub": "customer-1",
        "scope": "things:read things:write",
        "iss": ISSUER,
        "aud": AUDIENCE,
        "iat": now,
        "exp": now + 300,
        "jti": "1",
    }
    return {name: value for name, value in (good | changes).items() if value is not None}


def token(key: Any = RSA_KEY, *, key_id: str | None = "rsa-1", algorithm: str | None = "RS256", **changes: Any) -> str:
    """A signed token."""
    headers = {} if key_id is None else {"kid": key_id}
    return jwt.encode(claims(**changes), key, algorithm=algorithm, headers=headers)


def bearer(**changes: Any) -> dict[str, str]:
    """The header of a good token, with changed claims."""
    return {"Authorization": f"Bearer {token(**changes)}"}


def settings_for(keys: str, **changes: Any) -> ServiceSettings:
    """Development settings that trust the key set at the address `keys`."""
    values: dict[str, Any] = {
        "environment": Environment.DEVELOPMENT,
        "service_name": "order",
        "database_host": "127.0.0.1",
        "database_name": "none",
        "database_user": "none",
        "database_password": SecretStr("none"),
        "kafka_bootstrap_servers": "none",
        "redis_host": "none",
        "redis_password": SecretStr("none"),
        "rate_limit": "off",
        "jwt_issuer": ISSUER,
        "jwt_audience": AUDIENCE,
        "jwt_jwks_url": keys,
    }
    return ServiceSettings(**(values | changes))


def app_with(folder: Path, *routers: APIRouter, **options: Any) -> FastAPI:
    """An application that trusts RSA_KEY as rsa-1 and EC_KEY as ec-1."""
    keys = write_keys(folder, public_jwk(RSA_KEY, "rsa-1"), public_jwk(EC_KEY, "ec-1"))
    return create_app(settings_for(keys), title="Things", routers=routers, **options)


def client_of(app: FastAPI, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """A client that calls the application without a server between."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://things", headers=headers)


class Line(BaseModel):
    """A line of a thing."""

    sku: str = Field(min_length=1, max_length=10)
    quantity: int = Field(ge=1, le=100)


class NewThing(BaseModel):
    """What POST /things takes."""

    name: str = Field(max_length=50, examples=["kettle"])
    lines: list[Line] = Field(default=[], max_length=5)


def things() -> APIRouter:
    """GET and POST /things."""
    router = APIRouter()

    @router.get("/things")
    async def read(principal: Annotated[Principal, require("things:read")]) -> dict[str, str]:
        return {"subject": principal.subject}

    @router.post("/things", status_code=201)
    async def write(principal: Annotated[Principal, require("things:write")], body: NewThing) -> NewThing:
        return body

    return router
