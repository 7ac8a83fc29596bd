"""Who asks: good tokens of anybody, and tokens as an attacker or a mistake makes them."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import HMACAlgorithm, RSAAlgorithm

ISSUER = "https://issuer.example/"
AUDIENCE = "fencepost"
KEY_ID = "1"

_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_STRANGERS_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_PUBLIC_PEM = _KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def write_keys(folder: Path) -> str:
    """The key set that the services trust; its address."""
    file = folder / "jwks.json"
    file.write_text(json.dumps({"keys": [json.loads(RSAAlgorithm.to_jwk(_KEY.public_key())) | {"kid": KEY_ID}]}))
    return file.as_uri()


def bearer(subject: str, scopes: str, **more: str) -> dict[str, str]:
    """The headers of a caller with a good token, and `more` of them."""
    return {"Authorization": f"Bearer {_signed(sub=subject, scope=scopes)}"} | more


def refused_headers(scope: str) -> Mapping[str, tuple[dict[str, str], str]]:
    """Headers that open nothing, by what is wrong with them, each with the problem that it must be answered with.

    All but what is wrong is right: the tokens name the trusted key, and carry `scope`. Made by the test that uses them,
    since tokens age.
    """
    now = int(time.time())
    tokens = {
        "expired": _signed(scope=scope, iat=now - 120, exp=now - 60),
        "wrong audience": _signed(scope=scope, aud="another-suite"),
        "wrong issuer": _signed(scope=scope, iss="https://elsewhere.example/"),
        "alg none": _unsigned(scope),
        "HS256 signed with the public key": _signed_with_the_public_key(scope),
        "unknown key id": _signed(_STRANGERS_KEY, key_id="2", scope=scope),
        "another key under the known id": _signed(_STRANGERS_KEY, scope=scope),
    }
    return {
        "no token": ({}, "token-missing"),
        "no bearer token": ({"Authorization": "Basic YW5uOnNlY3JldA=="}, "token-missing"),
        **{name: ({"Authorization": f"Bearer {token}"}, "token-invalid") for name, token in tokens.items()},
    }


def _claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    good = {"sub": "mallory", "scope": "", "iss": ISSUER, "aud": AUDIENCE, "iat": now, "exp": now + 300}
    return good | changes


def _signed(key: rsa.RSAPrivateKey = _KEY, *, key_id: str = KEY_ID, **changes: Any) -> str:
    return jwt.encode(_claims(**changes), key, algorithm="RS256", headers={"kid": key_id})


def _unsigned(scope: str) -> str:
    return _parts("none", scope) + "."


def _signed_with_the_public_key(scope: str) -> str:
    """What a verifier takes that believes the token's word for its algorithm; PyJWT refuses to make one."""
    signed = _parts("HS256", scope)
    signature = HMACAlgorithm(HMACAlgorithm.SHA256).sign(signed.encode(), _PUBLIC_PEM)
    return f"{signed}.{_encoded(signature)}"


def _parts(algorithm: str, scope: str) -> str:
    header = {"alg": algorithm, "typ": "JWT", "kid": KEY_ID}
    return ".".join(_encoded(json.dumps(part).encode()) for part in (header, _claims(scope=scope)))


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
