"""The OpenAPI document tells what the edge does: tokens, scopes, problems, keys."""

from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
from fastapi import APIRouter
from http_lab import app_with, client_of, things

from service_platform.errors import Invalid, NotFound
from service_platform.http import PageWanted, Principal, idempotency, problems_of, require
from service_platform.idempotency import IdempotencyClaim
from service_platform.messages import Catalogue

TEXTS = Catalogue(
    {
        "thing-gone": {"en": "It is gone", "vi": "Đã mất"},
        "thing-gone.detail": {"en": "Thing {thing} is gone.", "vi": "Mất {thing}."},
        "thing-refused": {"en": "Not this one", "vi": "Không"},
    }
)


class ThingGone(NotFound, messages=TEXTS):
    slug = "thing-gone"
    example: ClassVar = {"thing": "7"}


class ThingRefused(Invalid, messages=TEXTS):
    slug = "thing-refused"


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    router = APIRouter(prefix="/more")

    @router.post("/things", status_code=201)
    async def make(
        principal: Annotated[Principal, require("more:write")],
        claim: Annotated[IdempotencyClaim, idempotency("make")],
        page: PageWanted,
    ) -> str:
        return principal.subject

    @router.get("/things/{thing_id}", responses=problems_of(ThingGone, ThingRefused))
    async def read_one(thing_id: int, principal: Annotated[Principal, require("more:read")]) -> int:
        return thing_id

    return app_with(tmp_path, things(), router).openapi()


def types_of(document: dict[str, Any], operation: dict[str, Any], status: str) -> list[str]:
    """The problem types that an answer can have, each with its example."""
    answer = operation["responses"][status]
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    content = answer["content"]["application/problem+json"]
    types: list[str] = content["schema"]["properties"]["type"]["enum"]
    assert list(content["examples"]) == types
    return types


def test_each_operation_names_its_scope(document) -> None:
    operations = {
        (path, method): operation["security"]
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }
    assert operations == {
        ("/things", "get"): [{"bearer": ["things:read"]}],
        ("/things", "post"): [{"bearer": ["things:write"]}],
        ("/more/things", "post"): [{"bearer": ["more:write"]}],
        ("/more/things/{thing_id}", "get"): [{"bearer": ["more:read"]}],
    }
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_every_problem_that_a_route_can_give_stands_under_its_status(document) -> None:
    operation = document["paths"]["/more/things"]["post"]
    assert {status: types_of(document, operation, status) for status in operation["responses"] if status >= "4"} == {
        "400": ["malformed-request", "idempotency-key-missing", "idempotency-key-malformed"],
        "401": ["token-missing", "token-invalid"],
        "403": ["scope-missing"],
        "408": ["request-too-slow"],
        "413": ["content-too-large"],
        "415": ["unsupported-media-type"],
        "422": ["nul-character", "validation-failed", "cursor-invalid", "idempotency-key-reused"],
        "429": ["too-many-requests"],
        "500": ["unexpected-error"],
        "503": ["keys-unavailable"],
    }
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_what_a_route_itself_refuses_stands_beside_what_the_edge_refuses(document) -> None:
    operation = document["paths"]["/more/things/{thing_id}"]["get"]
    assert types_of(document, operation, "404") == ["thing-gone"]
    assert types_of(document, operation, "422") == ["thing-refused", "nul-character", "validation-failed"]


def test_each_example_of_a_problem_is_one_and_of_its_own_route(document) -> None:
    operation = document["paths"]["/more/things/{thing_id}"]["get"]
    for slug, example in operation["responses"]["422"]["content"]["application/problem+json"]["examples"].items():
        assert example["value"].keys() >= {"type", "title", "status", "correlation_id"}
        assert example["value"]["type"] == slug
    (told,) = operation["responses"]["404"]["content"]["application/problem+json"]["examples"].values()
    assert (told["value"]["thing"], told["value"]["detail"]) == ("7", "Thing 7 is gone.")
    (forbidden,) = operation["responses"]["403"]["content"]["application/problem+json"]["examples"].values()
    assert forbidden["value"]["scope"] == "more:read"


def test_answers_and_bodies_have_an_example_made_of_their_models(document) -> None:
    posted = document["paths"]["/things"]["post"]
    assert posted["requestBody"]["content"]["application/json"]["example"] == {"name": "kettle", "lines": []}
    assert posted["responses"]["201"]["content"]["application/json"]["example"] == {"name": "kettle", "lines": []}


def test_the_idempotency_key_is_required_and_bounded(document) -> None:
    parameters = {parameter["name"]: parameter for parameter in document["paths"]["/more/things"]["post"]["parameters"]}
    assert parameters["Idempotency-Key"]["required"] is True
    assert parameters["Idempotency-Key"]["schema"]["maxLength"] == 128
    assert parameters["limit"]["schema"]["maximum"] == 100


async def test_it_is_served_with_a_page_and_the_same_each_time(tmp_path: Path) -> None:
    app = app_with(tmp_path, things())
    async with client_of(app) as client:
        assert (await client.get("/openapi.json")).json() == app.openapi() == (await client.get("/openapi.json")).json()
        page = await client.get("/docs")
    assert "swagger" in page.text
    assert "script-src https://cdn.jsdelivr.net" in page.headers["content-security-policy"]
