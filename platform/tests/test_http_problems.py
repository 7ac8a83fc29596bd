"""Every error is a problem (RFC 9457): typed, in the caller's language, and without a word about our insides."""

import json
from pathlib import Path
from typing import Annotated

import pytest
from fastapi import APIRouter, Query
from fastapi.exceptions import RequestValidationError
from http_lab import NewThing, app_with, bearer, client_of, things
from starlette.exceptions import HTTPException

from service_platform import errors
from service_platform.http import errors as edge_errors
from service_platform.http import public
from service_platform.http.messages import MESSAGES
from service_platform.http.problems import STATUS, status_of
from service_platform.messages import Catalogue

TEXTS = Catalogue({"thing-gone": {"en": "Gone", "vi": "Đã mất"}})


def all_below(kind: type) -> list[type]:
    return [below for child in kind.__subclasses__() for below in (child, *all_below(child))]


def failing() -> APIRouter:
    router = APIRouter(dependencies=[public("a test")])

    @router.get("/bug")
    async def bug() -> None:
        raise RuntimeError("password=hunter2 at postgres://internal")

    @router.get("/bad-answer")
    async def bad_answer() -> NewThing:
        return {"name": 1, "internal": "hunter2"}  # type: ignore[return-value]

    @router.get("/domain/{kind}")
    async def domain(kind: str) -> None:
        base = getattr(errors, kind)
        raise type("ThingGone", (base,), {"slug": "thing-gone"}, messages=TEXTS)(thing="7")

    @router.get("/status/{status}")
    async def status(status: int) -> None:
        raise HTTPException(status, detail="hunter2")

    @router.get("/numbers")
    async def numbers(n: Annotated[list[int], Query()]) -> None:
        return None

    return router


@pytest.fixture
async def client(tmp_path: Path):
    async with client_of(app_with(tmp_path, things(), failing()), headers=bearer()) as client:
        yield client


def problem(answer, status: int, slug: str) -> dict:
    body = answer.json()
    assert (answer.status_code, body["status"], body["type"]) == (status, status, slug)
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["title"]
    assert body["correlation_id"] == answer.headers["x-correlation-id"]
    assert "hunter2" not in answer.text
    return body


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("Malformed", 400),
        ("Unauthenticated", 401),
        ("Forbidden", 403),
        ("NotFound", 404),
        ("Conflict", 409),
        ("Invalid", 422),
        ("Unavailable", 503),
    ],
)
async def test_a_domain_error_is_mapped_by_its_kind_and_its_facts_are_members(client, kind: str, status: int) -> None:
    assert problem(await client.get(f"/domain/{kind}"), status, "thing-gone")["thing"] == "7"


def test_every_kind_of_the_tree_has_a_status() -> None:
    kinds = [kind for kind in errors.DomainError.__subclasses__() if kind.__module__ == "service_platform.errors.tree"]
    assert set(kinds) == set(STATUS)


def test_every_problem_of_the_edge_is_used_titled_and_has_its_status() -> None:
    own = [kind for kind in all_below(errors.DomainError) if kind.__module__ == edge_errors.__name__]
    slugs = {kind.slug for kind in own if hasattr(kind, "slug")}
    assert slugs == {key.removesuffix(".detail") for key in MESSAGES.keys()}  # noqa: SIM118 - not a dict
    drawn = edge_errors.__doc__ or ""
    for kind in own:
        assert kind.__name__ in drawn, f"draw {kind.__name__} in the tree at the top of http/errors.py"
        if hasattr(kind, "slug") and kind is not edge_errors.ValidationFailed:
            assert 400 <= status_of(kind) <= 503


async def test_the_title_is_in_the_language_of_the_caller(client) -> None:
    answer = await client.get("/nowhere", headers={"Accept-Language": "vi-VN, en;q=0.5"})
    assert problem(answer, 404, "not-found")["title"] == "Không có gì tại địa chỉ này"
    assert answer.headers["content-language"] == "vi"
    assert answer.headers["vary"] == "Accept-Language"


async def test_unknown_route_and_unknown_method_are_problems(client) -> None:
    problem(await client.get("/nowhere"), 404, "not-found")
    refused = await client.delete("/things")
    problem(refused, 405, "method-not-allowed")
    assert refused.headers["allow"] == "GET, POST"


async def test_a_bug_tells_nothing_but_a_correlation_id(client) -> None:
    body = problem(await client.get("/bug"), 500, "unexpected-error")
    assert set(body) == {"type", "title", "detail", "status", "correlation_id"}


async def test_an_answer_that_breaks_its_own_model_is_a_bug_and_is_not_sent(client) -> None:
    problem(await client.get("/bad-answer"), 500, "unexpected-error")


@pytest.mark.parametrize(
    ("raised", "status", "slug"),
    [(400, 400, "malformed-request"), (418, 400, "request-refused"), (503, 500, "unexpected-error")],
)
async def test_a_librarys_own_exception_is_a_problem_without_its_words(client, raised, status, slug) -> None:
    problem(await client.get(f"/status/{raised}"), status, slug)


async def test_validation_names_the_place_as_a_json_pointer_and_never_the_value(client) -> None:
    secret = {"name": "x" * 51, "lines": [{"sku": "", "quantity": 0}, {"sku": "hunter2-hunter2"}, "hunter2"]}
    body = problem(await client.post("/things", json=secret), 422, "validation-failed")
    places = {(error["in"], error["pointer"]): error["code"] for error in body["errors"]}
    assert places == {
        ("body", "#/name"): "string_too_long",
        ("body", "#/lines/0/sku"): "string_too_short",
        ("body", "#/lines/0/quantity"): "greater_than_equal",
        ("body", "#/lines/1/sku"): "string_too_long",
        ("body", "#/lines/1/quantity"): "missing",
        ("body", "#/lines/2"): "model_attributes_type",
    }
    assert all(error["detail"] for error in body["errors"])


async def test_validation_of_a_query_names_the_parameter(client) -> None:
    body = problem(await client.get("/numbers?n=x"), 422, "validation-failed")
    assert [(error["in"], error["name"]) for error in body["errors"]] == [("query", "n")]


@pytest.mark.parametrize("text", ["{", "{'name': 1}", '{"name": "a"', "nonsense", "", "\ufeff{}"])
async def test_what_is_no_json_is_a_problem(client, text: str) -> None:
    answer = await client.post("/things", content=text, headers={"Content-Type": "application/json"})
    problem(answer, 422, "validation-failed")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"name": ' + "9" * 5000 + "}", b'{"name": "\xff"}'])
async def test_json_that_hurts_a_parser_is_the_callers_fault(client, text) -> None:
    answer = await client.post("/things", content=text, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "text", ['{"name": "\\ud800"}', '{"name": "a", "lines": [{"\\ud800/~": 1}]}', '{"\\udfff": 1}']
)
async def test_lone_surrogates_are_refused_and_do_not_break_the_problem(client, text: str) -> None:
    answer = await client.post("/things", content=text, headers={"Content-Type": "application/json"})
    problem(answer, 422, "validation-failed")
    json.loads(answer.content.decode())


async def test_a_flood_of_errors_is_cut(client) -> None:
    answer = await client.get("/numbers", params={"n": ["x" * 500] * 50})
    body = problem(answer, 422, "validation-failed")
    assert 0 < len(body["errors"]) <= 20
    assert len(answer.content) < 10_000


def test_validation_errors_without_a_place_are_described_too() -> None:
    from service_platform.http.problems import _described

    for error in RequestValidationError([{"type": "x", "loc": (), "msg": "m"}]).errors():
        assert _described(error) == {"in": "body", "pointer": "#", "code": "x", "detail": "m"}
