"""Key sets: cached, rotated without a restart, and never a way to make us call out as often as a stranger likes."""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from http_lab import EC_KEY, OTHER_RSA_KEY, RSA_KEY, app_with, client_of, public_jwk, things, token, write_keys

from service_platform.http.errors import KeysUnavailable
from service_platform.http.keys import KeySet

FIRST = public_jwk(RSA_KEY, "rsa-1")
SECOND = public_jwk(OTHER_RSA_KEY, "rsa-2")


class KeyServer(ThreadingHTTPServer):
    """An issuer's key endpoint that counts its callers."""

    def __init__(self) -> None:
        self.calls = 0
        self.status = 200
        self.body = json.dumps({"keys": [FIRST]})
        self.drips = False
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.calls += 1
                self.send_response(server.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    while server.drips:
                        self.wfile.write(b" ")
                        time.sleep(0.05)
                self.wfile.write(server.body.encode())

            def log_message(self, *_: object) -> None:
                return None

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/jwks.json"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def server() -> Iterator[KeyServer]:
    with KeyServer() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(server: KeyServer, clock: Clock) -> KeySet:
    return KeySet(server.address, max_age_seconds=300, cooldown_seconds=10, now=clock)


async def test_many_requests_at_once_fetch_once(server: KeyServer, keys: KeySet) -> None:
    found = await asyncio.gather(*(keys.key("rsa-1") for _ in range(20)))
    assert all(found)
    assert server.calls == 1


async def test_a_new_key_is_found_at_its_first_use(server: KeyServer, keys: KeySet, clock: Clock) -> None:
    assert await keys.key("rsa-1")
    server.body = json.dumps({"keys": [FIRST, SECOND]})
    clock.now += 11
    assert await keys.key("rsa-2")
    assert server.calls == 2


async def test_invented_key_ids_fetch_at_most_once_within_the_cooldown(
    server: KeyServer, keys: KeySet, clock: Clock
) -> None:
    assert await keys.key("rsa-1")
    for number in range(50):
        assert await keys.key(f"invented-{number}") is None
    assert server.calls == 1
    clock.now += 11
    assert await asyncio.gather(*(keys.key(f"invented-{number}") for number in range(50))) == [None] * 50
    assert server.calls == 2


async def test_a_key_that_was_taken_back_is_gone_once_the_set_is_old(
    server: KeyServer, keys: KeySet, clock: Clock
) -> None:
    assert await keys.key("rsa-1")
    server.body = json.dumps({"keys": [SECOND]})
    clock.now += 301
    assert await keys.key("rsa-1") is None
    assert await keys.key("rsa-2")


async def test_while_the_issuer_is_away_the_known_keys_stay(server: KeyServer, keys: KeySet, clock: Clock) -> None:
    assert await keys.key("rsa-1")
    server.status = 503
    clock.now += 301
    assert await keys.key("rsa-1")
    assert server.calls == 2
    assert await keys.key("rsa-1")
    assert server.calls == 2, "a failing issuer is asked again only after the cooldown"


async def test_an_issuer_that_drips_is_given_up_and_holds_up_nobody_with_a_known_key(
    server: KeyServer, keys: KeySet, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await keys.key("rsa-1")
    monkeypatch.setattr("service_platform.http.keys._FETCH_SECONDS", 0.5)
    server.drips = True
    clock.now += 301
    first = asyncio.create_task(keys.key("rsa-1"))
    await asyncio.sleep(0)
    assert keys._fetching.locked()
    async with asyncio.timeout(0.4):
        assert await keys.key("rsa-1")
    assert not first.done()
    assert await first
    server.drips = False


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, ""),
        (302, json.dumps({"keys": [FIRST]})),
        (200, "not json"),
        (200, "[]"),
        (200, '{"keys": [1]}'),
        (200, '{"keys": []}'),
        (200, json.dumps({"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "rsa-1"}]})),
        (200, json.dumps({"keys": [FIRST | {"use": "enc"}]})),
        (200, json.dumps({"keys": [public_jwk(RSA_KEY, "rsa-1", alg="RS512")]})),
        (200, json.dumps({"keys": [FIRST], "padding": "x" * 300_000})),
    ],
)
async def test_without_one_good_set_nothing_is_believed(
    server: KeyServer, keys: KeySet, status: int, body: str
) -> None:
    server.status, server.body = status, body
    with pytest.raises(KeysUnavailable):
        await keys.key("rsa-1")


async def test_keys_of_other_kinds_in_a_set_are_passed_over(server: KeyServer, keys: KeySet) -> None:
    symmetric = {"kty": "oct", "k": "c2VjcmV0", "kid": "hmac", "alg": "HS256"}
    server.body = json.dumps({"keys": [symmetric, FIRST, public_jwk(EC_KEY, "ec-1")]})
    assert await keys.key("hmac") is None
    assert await keys.key("ec-1")


async def test_the_app_accepts_a_rotated_key_from_a_file_and_says_503_without_any(tmp_path: Path) -> None:
    app = app_with(tmp_path, things())
    (tmp_path / "jwks.json").unlink()
    clock = Clock()
    app.state.token_verifier._keys._now = clock
    rotated = {"Authorization": f"Bearer {token(OTHER_RSA_KEY, key_id='rsa-2')}"}
    async with client_of(app) as client:
        answer = await client.get("/things", headers=rotated)
        assert (answer.status_code, answer.json()["type"]) == (503, "keys-unavailable")
        assert answer.headers["retry-after"] == "1"
        write_keys(tmp_path, FIRST)
        clock.now += 11
        assert (await client.get("/things", headers=rotated)).status_code == 401
        write_keys(tmp_path, FIRST, SECOND)
        clock.now += 11
        assert (await client.get("/things", headers=rotated)).status_code == 200
