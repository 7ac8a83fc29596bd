"""Tokens: only a fresh one, for us, from our issuer, signed by a known key with that key's algorithm, opens a door."""

import base64
import json
import logging
import time
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from http_lab import EC_KEY, OTHER_RSA_KEY, RSA_KEY, app_with, claims, client_of, public_jwk, things, token, write_keys

from service_platform.http import tokens

PUBLIC_PEM = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def hand_made(header: dict[str, object], key: bytes | None = None) -> str:
    """A token as an attacker makes it, past what the library would sign."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims())]
    signature = b""
    if key is not None:
        signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(b".".join(parts), key)
    return b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()


@pytest.fixture
async def client(tmp_path: Path):
    async with client_of(app_with(tmp_path, things())) as client:
        yield client


async def get(client: httpx.AsyncClient, authorization: str | None) -> httpx.Response:
    headers = {} if authorization is None else {"Authorization": authorization}
    return await client.get("/things", headers=headers)


def good_tokens() -> dict[str, str]:
    """Made by the test that uses them: a collection may lie minutes before it, and tokens age."""
    return {
        "RS256": token(),
        "ES256": token(EC_KEY, key_id="ec-1", algorithm="ES256"),
        "one of several audiences": token(aud=["other", "fencepost"]),
        "expired within the leeway": token(exp=int(time.time()) - 5),
    }


@pytest.mark.parametrize("good", good_tokens())
async def test_a_good_token_opens_the_door(client, good: str) -> None:
    answer = await get(client, f"Bearer {good_tokens()[good]}")
    assert (answer.status_code, answer.json()) == (200, {"subject": "customer-1"})


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer  ", "Basic eDp5", token()])
async def test_without_a_bearer_token_the_caller_is_asked_for_one(client, authorization: str | None) -> None:
    answer = await get(client, authorization)
    assert (answer.status_code, answer.json()["type"]) == (401, "token-missing")
    assert answer.headers["www-authenticate"] == "Bearer"


def bad_tokens() -> dict[str, str]:
    """Made by the test that uses them, as the good ones are."""
    now = int(time.time())
    return {
        "alg none": hand_made({"alg": "none", "kid": "rsa-1"}),
        "alg None with other capitals": hand_made({"alg": "nOnE", "kid": "rsa-1"}),
        "HS256 with the public key": hand_made({"alg": "HS256", "kid": "rsa-1"}, PUBLIC_PEM),
        "RS256 claimed over an HMAC": hand_made({"alg": "RS256", "kid": "rsa-1"}, PUBLIC_PEM),
        "RS512 of the right key": token(algorithm="RS512"),
        "another algorithm than the key's": token(EC_KEY, key_id="rsa-1", algorithm="ES256"),
        "another key under a known id": token(OTHER_RSA_KEY),
        "unknown key": token(OTHER_RSA_KEY, key_id="rsa-2"),
        "no key id": token(key_id=None),
        "key id that is no text": hand_made({"alg": "RS256", "kid": 1}),
        "critical header that nobody knows": hand_made({"alg": "RS256", "kid": "rsa-1", "crit": ["x"], "x": 1}),
        "expired": token(exp=now - 60),
        "not yet valid": token(nbf=now + 60),
        "issued in the future": token(iat=now + 60),
        "expiry that is no number": token(exp="soon"),
        "no expiry": token(exp=None),
        "no time of issue": token(iat=None),
        "no subject": token(sub=None),
        "empty subject": token(sub=""),
        "subject with a NUL": token(sub="a\0b"),
        "subject that is too long": token(sub="x" * 256),
        "wrong audience": token(aud="elsewhere"),
        "no audience": token(aud=None),
        "wrong issuer": token(iss="https://evil.example/"),
        "no issuer": token(iss=None),
        "scopes as a list": token(scope=["things:read"]),
        "signature cut off": token().rpartition(".")[0] + ".",
        "payload changed": ".".join(
            [token().split(".")[0], token(sub="someone-else").split(".")[1], token().split(".")[2]]
        ),
        "not a token": "x.y.z",
        "not ASCII": "ü.é.â",
        "very long": "a" * 9000,
    }


@pytest.mark.parametrize("bad", bad_tokens())
async def test_any_other_token_is_refused_without_telling_why(client, bad: str) -> None:
    answer = await client.get(
        "/things", headers={"Authorization": f"Bearer {bad_tokens()[bad]}".encode("latin-1", "replace")}
    )
    assert (answer.status_code, answer.json()["type"]) == (401, "token-invalid")
    assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert set(answer.json()) == {"type", "title", "status", "correlation_id"}


async def test_a_good_token_without_the_scope_is_forbidden_and_told_which_it_needs(client) -> None:
    answer = await get(client, f"Bearer {token(scope='things:write')}")
    assert (answer.status_code, answer.json()["type"], answer.json()["scope"]) == (403, "scope-missing", "things:read")
    assert 'scope="things:read"' in answer.headers["www-authenticate"]


async def test_a_scope_is_the_whole_word(client) -> None:
    for almost in ("things:reader", "xthings:read", "things", "THINGS:READ", "", None):
        assert (await get(client, f"Bearer {token(scope=almost)}")).status_code == 403


async def test_a_remembered_token_expires_all_the_same(client, monkeypatch: pytest.MonkeyPatch) -> None:
    good = f"Bearer {token()}"
    assert [(await get(client, good)).status_code for _ in range(2)] == [200, 200]
    later = time.time() + 311
    monkeypatch.setattr("service_platform.http.tokens.time.time", lambda: later)
    monkeypatch.setattr("jwt.api_jwt.datetime", SimpleNamespace(now=lambda tz: datetime.fromtimestamp(later, tz)))
    assert (await get(client, good)).status_code == 401


async def test_a_remembered_token_dies_with_its_key(client, tmp_path: Path) -> None:
    good = f"Bearer {token()}"
    assert [(await get(client, good)).status_code for _ in range(2)] == [200, 200]
    write_keys(tmp_path, public_jwk(OTHER_RSA_KEY, "rsa-1"))
    keys = client._transport.app.state.token_verifier._keys
    later = time.monotonic() + 301
    keys._now = lambda: later
    assert (await get(client, good)).status_code == 401


async def test_more_callers_than_are_remembered_all_get_in(client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_MOST_REMEMBERED", 2)
    for number in (1, 2, 3, 1, 2, 3):
        answer = await get(client, f"Bearer {token(sub=f'customer-{number}')}")
        assert answer.json() == {"subject": f"customer-{number}"}


async def test_no_part_of_a_token_is_logged(client, caplog: pytest.LogCaptureFixture, capfd) -> None:
    with caplog.at_level(logging.DEBUG):
        bad = token(OTHER_RSA_KEY)
        await get(client, f"Bearer {bad}")
    written = caplog.text + "".join(capfd.readouterr())
    assert "http.token.refused" in written
    assert not any(part in written for part in bad.split("."))
