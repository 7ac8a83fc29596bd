"""The OpenAPI document tells what the edge does: tokens, scopes, problems, keys."""

from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import APIRouter
from http_lab import app_with, client_of, things

from service_platform.http import PageWanted, Principal, idempotency, require
from service_platform.idempotency import IdempotencyClaim


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

    return app_with(tmp_path, things(), router).openapi()


def schema_of(operation: dict[str, Any], status: str) -> str:
    return operation["responses"][status]["content"]["application/problem+json"]["schema"]["$ref"].rpartition("/")[2]


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
    }
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_every_error_is_described_as_a_problem(document) -> None:
    operation = document["paths"]["/things"]["post"]
    assert {status: schema_of(operation, status) for status in ("401", "403", "422", "default")} == {
        "401": "Problem",
        "403": "Problem",
        "422": "ValidationProblem",
        "default": "Problem",
    }
    assert "HTTPValidationError" not in document["components"]["schemas"]


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
