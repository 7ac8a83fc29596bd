"""Closed by default: an application with a route that forgot to say who may use it does not start."""

from pathlib import Path
from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, FastAPI, WebSocket
from fastapi.routing import iter_route_contexts
from http_lab import app_with, bearer, client_of, things
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from service_platform.http import Principal, UndeclaredRoute, public, require


def router_of(endpoint, path: str = "/open", **options) -> APIRouter:
    router = APIRouter()
    router.add_api_route(path, endpoint, methods=["GET"], **options)
    return router


async def forgotten() -> str:
    return "open"


def test_a_route_without_a_scope_is_named_and_the_app_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UndeclaredRoute, match=r"GET /open \(forgotten\)"):
        app_with(tmp_path, things(), router_of(forgotten))


def test_a_forgotten_route_in_a_router_of_a_router_is_found(tmp_path: Path) -> None:
    outer = APIRouter(prefix="/outer")
    outer.include_router(router_of(forgotten), prefix="/inner")
    with pytest.raises(UndeclaredRoute, match="/outer/inner/open"):
        app_with(tmp_path, outer)


@pytest.mark.parametrize("kind", ["websocket", "mount", "plain route"])
def test_what_cannot_declare_a_scope_is_refused(tmp_path: Path, kind: str) -> None:
    router = APIRouter()
    if kind == "websocket":

        @router.websocket("/socket")
        async def socket(socket: WebSocket) -> None:
            await socket.accept()

    elif kind == "mount":
        router.routes.append(Mount("/files", app=FastAPI()))
    else:
        router.routes.append(Route("/plain", lambda _: PlainTextResponse("open")))
    with pytest.raises(UndeclaredRoute):
        app_with(tmp_path, router)


async def test_a_route_that_is_added_later_stops_the_start(tmp_path: Path) -> None:
    app = app_with(tmp_path, things())
    app.add_api_route("/late", forgotten)
    with pytest.raises(UndeclaredRoute, match="/late"):
        async with app.router.lifespan_context(app):
            pytest.fail("it started")


def test_a_public_route_says_why() -> None:
    with pytest.raises(ValueError, match="why"):
        public("")


async def test_scopes_may_be_declared_on_the_router_or_below_another_dependency(tmp_path: Path) -> None:
    async def reader(principal: Annotated[Principal, require("things:read")]) -> str:
        return principal.subject

    async def indirect(subject: Annotated[str, Depends(reader)]) -> str:
        return subject

    app = app_with(
        tmp_path, router_of(indirect, "/indirect"), router_of(forgotten, "/router", dependencies=[require("x")])
    )
    async with client_of(app) as client:
        assert (await client.get("/indirect")).status_code == 401
        assert (await client.get("/indirect", headers=bearer())).json() == "customer-1"
        assert (await client.get("/router", headers=bearer())).status_code == 403


async def test_only_probes_numbers_and_documents_answer_without_a_token(tmp_path: Path) -> None:
    app = app_with(tmp_path, things())
    open_paths = set()
    async with client_of(app) as client:
        for route in iter_route_contexts(app.routes):
            for method in route.methods or ():
                if (await client.request(method, str(route.path))).status_code != 401:
                    open_paths.add(route.path)
    assert open_paths == {"/health/live", "/health/ready", "/metrics", "/openapi.json", "/docs"}
