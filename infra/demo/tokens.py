"""Bearer tokens for development, signed by the key that the stack made for itself."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from jwt.algorithms import RSAAlgorithm

ISSUER = "https://fencepost.local/"
AUDIENCE = "fencepost"
LIFETIME = timedelta(hours=1)

STAFF = "demo-staff"
STAFF_SCOPES = "orders:read orders:read_all payments:read_all invoices:read invoices:read_all"


class NoSigningKey(Exception):
    """The stack has no key to sign with; the text says what to do."""


class Tokens:
    """Signs tokens and keeps each until half of its life is over: signing costs more than most of a request.

    Raises `NoSigningKey` when the stack was never up, or its secrets do not fit together.
    """

    def __init__(self, secrets: Path) -> None:
        self._key = _private_key(secrets / "jwt-private.pem")
        self._key_id = _key_id(secrets / "jwks.json", self._key)
        self._kept: dict[tuple[str, str], tuple[str, datetime]] = {}

    def bearer(self, subject: str, scopes: str) -> str:
        """A token for `subject` with the space-separated `scopes`, valid for at least half of `LIFETIME`."""
        now = datetime.now(UTC)
        token, renew_at = self._kept.get((subject, scopes), ("", now))
        if now >= renew_at:
            token = self._sign(subject, scopes, now)
            self._kept[subject, scopes] = (token, now + LIFETIME / 2)
        return token

    def staff(self) -> str:
        """A token that reads everything."""
        return self.bearer(STAFF, STAFF_SCOPES)

    def _sign(self, subject: str, scopes: str, now: datetime) -> str:
        claims: Mapping[str, Any] = {
            "sub": subject,
            "scope": " ".join(scopes.split()),
            "iss": ISSUER,
            "aud": AUDIENCE,
            "iat": now,
            "exp": now + LIFETIME,
            "jti": str(uuid4()),
        }
        return jwt.encode(dict(claims), self._key, algorithm="RS256", headers={"kid": self._key_id})


def _private_key(path: Path) -> RSAPrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except FileNotFoundError:
        raise NoSigningKey(
            f"There is no signing key at {path}: this stack was never up. Run `make up` once, or set "
            "FENCEPOST_STATE_DIR to the state folder of the stack you mean."
        ) from None
    except (OSError, ValueError) as error:
        raise NoSigningKey(f"The signing key at {path} cannot be read: {error}") from error
    if not isinstance(key, RSAPrivateKey):
        raise NoSigningKey(f"The signing key at {path} is not an RSA key: remove it and run `make up` again.")
    return key


def _key_id(path: Path, key: RSAPrivateKey) -> str:
    """The id under which the JWKS publishes this key; without it no service would find the key."""
    modulus = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)["n"]
    try:
        published = json.loads(path.read_text(encoding="utf-8"))["keys"]
    except (OSError, ValueError, KeyError) as error:
        raise NoSigningKey(f"The public keys at {path} cannot be read: {error!r}. Run `make up` again.") from error
    for entry in published:
        if entry.get("n") == modulus:
            return str(entry["kid"])
    raise NoSigningKey(f"{path} does not publish the key beside it: remove both files and run `make up` again.")
