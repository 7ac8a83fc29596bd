"""One caller cannot take what is there for all; and what counts them may be away without anybody noticing."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from http_lab import RSA_KEY, bearer, client_of, public_jwk, settings_for, things, write_keys
from pydantic import SecretStr, ValidationError
from structlog.testing import capture_logs

from native.credentials import REDIS_PASSWORD
from native.stack import Stack
from service_platform.http import create_app, rate_limit
from world.waiting import eventually


def app_of(folder: Path, limit: str, service: str = "order", *, port: int, password: str = "none") -> FastAPI:
    """One replica of a service that counts at that port."""
    settings = settings_for(
        write_keys(folder, public_jwk(RSA_KEY, "rsa-1")),
        rate_limit=limit,
        service_name=service,
        redis_host="127.0.0.1",
        redis_port=port,
        redis_password=SecretStr(password),
    )
    return create_app(settings, title="Things", routers=[things()])


@pytest.fixture
def redis(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Where the real one is. It is waited for here for as long as a busy machine may need."""
    monkeypatch.setattr(rate_limit, "_LONGEST_WAIT_SECONDS", 20)
    password = (stack.layout.secrets / REDIS_PASSWORD).read_text(encoding="utf-8")
    return {"port": stack.topology.ports["valkey"], "password": password}


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Something that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield server.getsockname()[1]


@pytest.fixture
async def unlimited(tmp_path: Path, silent_port: int) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app_of(tmp_path, "1/hour", port=silent_port)) as client:
        yield client


async def statuses(client: httpx.AsyncClient, caller: str, times: int) -> list[int]:
    return [(await client.get("/things", headers=bearer(sub=caller))).status_code for _ in range(times)]


async def test_a_caller_has_so_many_requests_over_all_replicas_and_others_have_their_own(
    tmp_path: Path, redis: dict[str, object]
) -> None:
    service, ann = f"s{uuid4().hex[:10]}", str(uuid4())
    apps = [app_of(tmp_path, "5/hour", service, **redis) for _ in range(2)]  # type: ignore[arg-type]
    elsewhere = app_of(tmp_path, "5/hour", f"{service}-b", **redis)  # type: ignore[arg-type]
    async with client_of(apps[0]) as one, client_of(apps[1]) as another, client_of(elsewhere) as other_service:
        assert await statuses(one, ann, 3) == [200] * 3
        assert await statuses(another, ann, 3) == [200, 200, 429]
        assert await statuses(one, ann, 1) == [429]
        assert await statuses(one, str(uuid4()), 1) == [200]
        assert await statuses(other_service, ann, 1) == [200]
    for app in (*apps, elsewhere):
        await app.state.rate_limit.close()


async def test_a_refused_caller_is_told_when_to_come_again_and_then_gets_in(
    tmp_path: Path, redis: dict[str, object]
) -> None:
    app = app_of(tmp_path, "2/second", f"s{uuid4().hex[:10]}", **redis)  # type: ignore[arg-type]
    async with client_of(app, headers=bearer()) as client:
        answers = [await client.get("/things") for _ in range(20)]
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.headers["content-type"] == "application/problem+json"
        told = refused.json()
        assert (told["type"], told["status"], told["retry_after_seconds"]) == ("too-many-requests", 429, 1)
        assert (refused.headers["retry-after"], told["detail"]) == ("1", "Try again in 1 s.")
        await eventually(
            lambda: client.get("/things"),
            until=lambda answer: answer.status_code == 200,
            every=0.1,
            what="the window ends",
        )
    await app.state.rate_limit.close()


async def test_no_subject_stands_in_the_keys(tmp_path: Path, redis: dict[str, object]) -> None:
    service = f"s{uuid4().hex[:10]}"
    app = app_of(tmp_path, "5/hour", service, **redis)  # type: ignore[arg-type]
    async with client_of(app) as client:
        assert await statuses(client, "jane@example.com", 1) == [200]
    counted = app.state.rate_limit._counted.storage.bridge.storage
    keys = [key.decode() async for key in counted.scan_iter(f"*{service}*")]
    assert keys
    assert not any("jane" in key for key in keys)
    await app.state.rate_limit.close()


async def test_while_nothing_counts_nobody_is_refused_and_it_is_asked_once_in_a_while(
    unlimited: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(unlimited._transport.app.state.rate_limit, "_now", lambda: now)  # type: ignore[attr-defined]
    with capture_logs() as logged:
        started = time.monotonic()
        assert await statuses(unlimited, "ann", 30) == [200] * 30
        took = time.monotonic() - started
        now += 6
        assert await statuses(unlimited, "ann", 2) == [200] * 2
    outages = [entry for entry in logged if entry["event"] == "http.rate_limit.open"]
    assert len(outages) == 2, "asked once, and once more when it was left alone for long enough"
    assert took < 30 * rate_limit._LONGEST_WAIT_SECONDS, "each request waited"


class Gate:
    """A way to the real one, which can be shut: what is on its way then gets no answer."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.open = asyncio.Event()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.open.wait()
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while part := await reader.read(4096):
            writer.write(part)
        writer.close()


async def test_a_counter_that_came_back_counts_again(
    tmp_path: Path, redis: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, now = Gate(int(str(redis["port"]))), 1000.0
    async with await asyncio.start_server(gate.handle, "127.0.0.1", 0) as server:
        through_it = redis | {"port": server.sockets[0].getsockname()[1]}
        app = app_of(tmp_path, "1/hour", f"s{uuid4().hex[:10]}", **through_it)  # type: ignore[arg-type]
        monkeypatch.setattr(app.state.rate_limit, "_now", lambda: now)
        async with client_of(app) as client:
            monkeypatch.setattr(rate_limit, "_LONGEST_WAIT_SECONDS", 0.25)
            assert await statuses(client, "ann", 3) == [200] * 3
            monkeypatch.setattr(rate_limit, "_LONGEST_WAIT_SECONDS", 20)
            gate.open.set()
            now += 6
            assert await statuses(client, "ann", 2) == [200, 429]
        await app.state.rate_limit.close()


async def test_a_caller_without_a_good_token_is_not_counted(tmp_path: Path, silent_port: int) -> None:
    async with client_of(app_of(tmp_path, "1/hour", port=silent_port)) as client:
        with capture_logs() as logged:
            assert (await client.get("/things")).status_code == 401
            assert (await client.get("/things", headers=bearer(exp=1))).status_code == 401
            assert (await client.get("/health/live")).status_code == 200
    assert not [entry for entry in logged if entry["event"] == "http.rate_limit.open"]


async def test_off_is_off(tmp_path: Path, silent_port: int) -> None:
    assert app_of(tmp_path, "off", port=silent_port).state.rate_limit is None


@pytest.mark.parametrize("limit", ["", "none", "0/minute", "5", "5/fortnight", "5/minute;1/second"])
def test_a_limit_that_is_none_stops_the_start(tmp_path: Path, silent_port: int, limit: str) -> None:
    with pytest.raises(ValidationError, match="rate_limit"):
        app_of(tmp_path, limit, port=silent_port)
