"""The stack's secrets: made once, each in a file that only its owner reads, handed on as `<NAME>_FILE` settings."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

JWT_PRIVATE_KEY = "jwt-private.pem"
JWKS = "jwks.json"
POSTGRES_PASSWORD = "postgres-password"
REDIS_PASSWORD = "redis-password"
STRIPE_API_KEY = "stripe-api-key"
STRIPE_WEBHOOK_SECRET = "stripe-webhook-secret"


def owner_password(service: str) -> str:
    """The name of the secret that `service` migrates with."""
    return f"{service}-owner-password"


def app_password(service: str) -> str:
    """The name of the secret that `service` runs with."""
    return f"{service}-app-password"


def make_secrets(folder: Path, services: tuple[str, ...]) -> None:
    """Write every secret that `folder` lacks; keep the others."""
    passwords = [POSTGRES_PASSWORD, REDIS_PASSWORD]
    for service in services:
        passwords += [owner_password(service), app_password(service)]
    for name in passwords:
        _write_once(folder / name, secrets.token_urlsafe(24))
    _write_once(folder / STRIPE_API_KEY, f"sk_test_{secrets.token_hex(16)}")
    _write_once(folder / STRIPE_WEBHOOK_SECRET, f"whsec_{secrets.token_hex(16)}")
    if not (folder / JWT_PRIVATE_KEY).exists() or not (folder / JWKS).exists():
        _make_signing_key(folder)


def _make_signing_key(folder: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    public |= {"kid": secrets.token_hex(8), "use": "sig", "alg": "RS256"}
    _replace(folder / JWT_PRIVATE_KEY, pem.decode())
    _replace(folder / JWKS, json.dumps({"keys": [public]}, indent=2))


def _write_once(path: Path, text: str) -> None:
    if not path.exists():
        _replace(path, text)


def _replace(path: Path, text: str) -> None:
    """Whole or not at all: a crash in between must not leave a half-written secret for ever."""
    draft = path.with_suffix(f"{path.suffix}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
