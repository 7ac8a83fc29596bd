"""The OpenAPI document and a page to try it out."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import JSONResponse, Response

from .access import public

_PAGE_POLICY = (
    "default-src 'none'; connect-src 'self'; img-src data: https://fastapi.tiangolo.com; "
    "style-src https://cdn.jsdelivr.net 'unsafe-inline'; script-src https://cdn.jsdelivr.net 'unsafe-inline'"
)


def docs_router(title: str) -> APIRouter:
    """`/openapi.json` and `/docs`."""
    router = APIRouter(include_in_schema=False, dependencies=[public("the description of the API is no secret")])

    @router.get("/openapi.json")
    async def document(request: Request) -> Response:
        return JSONResponse(request.app.openapi())

    @router.get("/docs")
    async def page() -> Response:
        response = get_swagger_ui_html(openapi_url="/openapi.json", title=title)
        response.headers["Content-Security-Policy"] = _PAGE_POLICY
        return response

    return router
