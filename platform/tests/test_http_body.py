"""The body: bounded whatever its length says, JSON only, without NUL, and read within a bound of time."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fastapi import APIRouter, Request
from http_lab import app_with, bearer, client_of, things

from service_platform.http import body as body_module
from service_platform.http import public

JSON = {"Content-Type": "application/json"}
LIMIT = 1000


@pytest.fixture
async def client(tmp_path: Path):
    router = APIRouter(dependencies=[public("a test")])

    @router.post("/raw")
    async def raw(request: Request) -> int:
        return len(await request.body())

    app = app_with(tmp_path, things(), router, max_body_bytes=LIMIT)
    async with client_of(app, headers=bearer()) as client:
        yield client


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def slug(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"]


async def test_the_limit_itself_passes_and_one_byte_more_does_not(client) -> None:
    assert (await client.post("/raw", content=b"1" * LIMIT, headers=JSON)).json() == LIMIT
    too_large = await client.post("/raw", content=b"1" * (LIMIT + 1), headers=JSON)
    assert slug(too_large) == (413, "content-too-large")
    assert too_large.json()["limit_bytes"] == LIMIT


@pytest.mark.parametrize("parts", [[b"1" * 1001], [b"1" * 500, b"1" * 501], [b"1"] * 1001])
async def test_a_body_of_unknown_length_is_cut_at_the_limit(client, parts: list[bytes]) -> None:
    assert slug(await client.post("/raw", content=chunks(*parts), headers=JSON)) == (413, "content-too-large")


async def test_a_body_in_many_parts_arrives_whole(client) -> None:
    assert (await client.post("/raw", content=chunks(b"1", b"", b"23"), headers=JSON)).json() == 3


async def test_no_body_is_a_body_too(client) -> None:
    async with asyncio.timeout(20):
        assert (await client.post("/raw")).json() == 0
        assert (await client.post("/raw", content=chunks())).json() == 0


async def test_a_length_that_is_no_number_is_malformed(client) -> None:
    for length in ("x", "-1", "²", ""):
        answer = await client.post("/raw", content=b"1", headers=JSON | {"Content-Length": length.encode("latin-1")})
        assert slug(answer) == (400, "malformed-request")


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonx",
    ],
)
async def test_what_does_not_say_that_it_is_json_is_refused(client, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    assert slug(await client.post("/things", content=b'{"name": "a"}', headers=headers)) == (
        415,
        "unsupported-media-type",
    )


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/ld+json"]
)
async def test_json_by_any_of_its_names_is_read(client, content_type: str) -> None:
    answer = await client.post("/things", content=b'{"name": "a"}', headers={"Content-Type": content_type})
    assert answer.status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        rb'{"name": "a\u0000b"}',
        rb'{"name": "\\\u0000"}',
        rb'{"name": "a", "\u0000": 1}',
        b'{"name": "a\0b"}',
        '{"name": "a"}'.encode("utf-16"),
    ],
)
async def test_a_nul_in_any_text_is_refused(client, body: bytes) -> None:
    assert slug(await client.post("/things", content=body, headers=JSON)) == (422, "nul-character")


async def test_a_backslash_before_u0000_is_no_nul(client) -> None:
    answer = await client.post("/things", content=rb'{"name": "\\u0000"}', headers=JSON)
    assert answer.json()["name"] == r"\u0000"


async def test_a_nul_in_path_or_query_is_refused(client) -> None:
    assert slug(await client.get("/things?q=%00")) == (422, "nul-character")
    assert slug(await client.get("/things/%00")) == (422, "nul-character")
    assert (await client.get("/things?q=%2500")).status_code == 200


async def test_a_body_that_does_not_arrive_in_time_is_given_up(client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_module, "_BODY_SECONDS", 0.05)

    async def stuck() -> AsyncIterator[bytes]:
        yield b"1"
        await asyncio.Event().wait()

    assert slug(await client.post("/raw", content=stuck(), headers=JSON)) == (408, "request-too-slow")


async def test_a_caller_who_leaves_in_mid_body_is_not_answered(tmp_path: Path) -> None:
    app = app_with(tmp_path, things())
    sent = []
    messages = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])

    async def receive():
        return next(messages)

    async def send(message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/things",
        "raw_path": b"/things",
        "query_string": b"",
        "headers": [(b"content-length", b"10"), (b"content-type", b"application/json")],
        "server": ("things", 80),
        "client": ("127.0.0.1", 1),
    }
    await app(scope, receive, send)
    assert sent == []
