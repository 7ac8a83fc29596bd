"""The operators' routes: made from the declarations, closed without the scope, with problems as elsewhere."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest
from fastapi import APIRouter
from fastapi.routing import iter_route_contexts
from http_lab import app_with, bearer, client_of
from ops_lab import make_table, make_thing
from ops_things import THINGS

from service_platform.database import Database
from service_platform.ops import ActionRunner
from service_platform.ops.routes import operator_routes

Owner = asyncpg.Connection

OPS = {"scope": "ops", "sub": "jane"}
ROUTES = {
    ("GET", "/ops/things"),
    ("GET", "/ops/things/{id}"),
    ("POST", "/ops/things/{id}/close"),
    ("GET", "/ops/things/spoil"),
    ("POST", "/ops/things/close-all"),
    ("GET", "/ops/audit"),
}


@pytest.fixture
def router(database: Database) -> APIRouter:
    return operator_routes(THINGS, ActionRunner(database, "order"))


@pytest.fixture
async def client(router: APIRouter, tmp_path: Path, owner: Owner) -> AsyncIterator[httpx.AsyncClient]:
    await make_table(owner)
    async with client_of(app_with(tmp_path, router), headers=bearer(**OPS)) as client:
        yield client


@pytest.fixture
def document(router: APIRouter, tmp_path: Path) -> dict[str, Any]:
    return app_with(tmp_path, router).openapi()


def test_reads_are_gets_changes_are_posts_and_the_one_thing_stands_in_the_path(router: APIRouter) -> None:
    routes = iter_route_contexts(router.routes)
    assert {(method, str(route.path)) for route in routes for method in route.methods or ()} == ROUTES


@pytest.mark.parametrize(("method", "path"), sorted(ROUTES))
async def test_no_route_answers_without_the_scope(
    client: httpx.AsyncClient, owner: Owner, method: str, path: str
) -> None:
    address = path.replace("{id}", str(uuid4()))
    body = {"json": {"reason": "broken"}} if method == "POST" else {}
    nobody = await client.request(method, address, headers={"Authorization": ""}, **body)
    assert (nobody.status_code, nobody.json()["type"]) == (401, "token-missing")
    for scope in ("orders:read orders:read_all", "ops:read", "OPS", ""):
        stranger = await client.request(method, address, headers=bearer(scope=scope), **body)
        assert (stranger.status_code, stranger.json()["type"]) == (403, "scope-missing")
    assert await owner.fetchval("SELECT count(*) FROM operator_audit") == 0


async def test_the_actor_is_the_tokens_subject(client: httpx.AsyncClient, owner: Owner) -> None:
    thing = await make_thing(owner)
    answer = await client.post(
        f"/ops/things/{thing}/close", json={"reason": "broken"}, headers={"X-Correlation-Id": "call-9"}
    )
    assert (answer.status_code, answer.json()["reason"]) == (200, "broken")
    row = await owner.fetchrow("SELECT * FROM operator_audit")
    assert row is not None
    assert (row["actor"], row["via"], row["correlation_id"]) == ("jane", "http", "call-9")
    assert json.loads(row["input"]) == {"id": str(thing), "reason": "broken", "again": False}


async def test_pages_are_those_of_every_list(client: httpx.AsyncClient, owner: Owner) -> None:
    newest_first = [str(await make_thing(owner, "kettle", number)) for number in range(5)][::-1]
    await make_thing(owner, "lamp", 9)
    seen, cursor = [], None
    while True:
        wanted = {"limit": 2, "name": "kettle"} | ({"cursor": cursor} if cursor else {})
        page = (await client.get("/ops/things", params=wanted)).json()
        seen += [row["id"] for row in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert seen == newest_first


@pytest.mark.parametrize(
    ("language", "title"), [("en", "There is no such thing"), ("vi", "There is no such thing (vi)")]
)
async def test_an_unknown_thing_is_a_404_in_the_callers_language(
    client: httpx.AsyncClient, language: str, title: str
) -> None:
    for answer in (
        await client.get(f"/ops/things/{uuid4()}", headers={"Accept-Language": language}),
        await client.post(
            f"/ops/things/{uuid4()}/close", json={"reason": "broken"}, headers={"Accept-Language": language}
        ),
    ):
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.json()["type"], answer.json()["title"]) == ("thing-not-found", title)


async def test_the_same_change_again_is_a_409_that_says_what_to_do_and_changes_nothing(
    client: httpx.AsyncClient, owner: Owner
) -> None:
    thing = await make_thing(owner)
    first, second = [
        await client.post(f"/ops/things/{thing}/close", json={"reason": reason}) for reason in ("broken", "lost")
    ]
    assert (first.status_code, second.status_code) == (200, 409)
    assert second.json()["detail"] == "Since broken. Leave it."
    assert await owner.fetchval("SELECT reason FROM thing") == "broken"


@pytest.mark.parametrize(
    ("method", "address", "sent", "where"),
    [
        ("GET", "/ops/things", {"params": {"limit": "101"}}, {"in": "query", "name": "limit"}),
        ("GET", "/ops/things", {"params": {"colour": "red"}}, {"in": "query", "name": "colour"}),
        ("GET", "/ops/things/no-uuid", {}, {"in": "path", "name": "id"}),
        ("POST", f"/ops/things/{UUID(int=1)}/close", {"json": {"reason": "x"}}, {"in": "body", "pointer": "#/reason"}),
        ("POST", f"/ops/things/{UUID(int=1)}/close", {"json": {}}, {"in": "body", "pointer": "#/reason"}),
        (
            "POST",
            f"/ops/things/{UUID(int=1)}/close",
            {"json": {"reason": "broken", "id": str(UUID(int=2))}},
            {"in": "body", "pointer": "#/id"},
        ),
        (
            "POST",
            f"/ops/things/{UUID(int=1)}/close",
            {"json": {"reason": "broken", "again": True}},
            {"in": "body", "pointer": "#"},
        ),
        ("POST", "/ops/things/close-all", {"json": {"limit": 501}}, {"in": "body", "pointer": "#/limit"}),
    ],
)
async def test_an_unusable_request_is_a_422_that_names_the_place(
    client: httpx.AsyncClient, method: str, address: str, sent: dict[str, Any], where: dict[str, str]
) -> None:
    answer = await client.request(method, address, **sent)
    assert (answer.status_code, answer.json()["type"]) == (422, "validation-failed")
    (error,) = answer.json()["errors"]
    assert {name: error[name] for name in where} == where


async def test_a_cursor_that_no_page_had_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.get("/ops/things", params={"cursor": "nonsense"})
    assert (answer.status_code, answer.json()["type"]) == (422, "cursor-invalid")


async def test_a_read_of_many_is_not_taken_for_one_thing_of_that_name(client: httpx.AsyncClient) -> None:
    answer = await client.get("/ops/things/spoil")  # refused by the database, since it writes
    assert (answer.status_code, answer.json()["type"]) == (500, "unexpected-error")


async def test_many_are_shown_before_they_are_done(client: httpx.AsyncClient, owner: Owner) -> None:
    await make_thing(owner)
    shown = (await client.post("/ops/things/close-all", json={})).json()
    assert (shown["applied"], [item["fate"] for item in shown["items"]]) == (False, ["found"])
    done = (await client.post("/ops/things/close-all", json={"apply": True})).json()
    assert (done["applied"], [item["fate"] for item in done["items"]]) == (True, ["done"])


def test_the_document_tells_scope_refusals_and_an_example_of_each_action(document: dict[str, Any]) -> None:
    close = document["paths"]["/ops/things/{id}/close"]["post"]
    assert close["operationId"] == "ops_things_close"
    assert (close["summary"], close["description"]) == ("close things", "close things.detail")
    assert close["security"] == [{"bearer": ["ops"]}]
    assert close["responses"]["404"]["description"] == "`thing-not-found`: There is no such thing"
    assert close["responses"]["409"]["description"] == "`thing-closed`: The thing is closed already"
    assert close["responses"]["200"]["content"]["application/json"]["example"]["name"] == "kettle"
    body = close["requestBody"]["content"]["application/json"]
    assert body["examples"]["example"]["value"] == {"reason": "broken", "again": False}
    listing = document["paths"]["/ops/things"]["get"]
    assert [parameter["name"] for parameter in listing["parameters"]] == ["limit", "cursor", "name"]
    assert listing["responses"]["200"]["content"]["application/json"]["example"]["items"][0]["name"] == "kettle"
