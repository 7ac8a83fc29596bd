"""The one mapping of errors to HTTP: problem+json (RFC 9457), in the caller's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from rfc9457 import Problem
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from service_platform.errors import (
    Conflict,
    DomainError,
    Forbidden,
    Invalid,
    Malformed,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from service_platform.messages import negotiate
from service_platform.telemetry import correlation_id

from .errors import (
    EdgeError,
    MethodNotAllowed,
    RequestMalformed,
    RequestRefused,
    RouteNotFound,
    ScopeMissing,
    TokenInvalid,
    TooManyRequests,
    UnexpectedError,
    ValidationFailed,
)

MEDIA_TYPE = "application/problem+json"

STATUS: Mapping[type[DomainError], int] = {
    Malformed: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    Invalid: 422,
    Unavailable: 503,
}

_MOST_ERRORS = 20
_LONGEST_TEXT = 200


def status_of(error: type[DomainError]) -> int:
    """The HTTP status of a class of domain errors; one that is of no known kind is our fault, 500."""
    if issubclass(error, EdgeError):
        return error.status
    return next((status for kind, status in STATUS.items() if issubclass(error, kind)), 500)


def problem_response(request: Request, error: DomainError, headers: Mapping[str, str] | None = None) -> Response:
    """`error` as problem+json; its facts and the correlation id are members of the problem."""
    language = negotiate(request.headers.get("accept-language"))
    members: dict[str, Any] = dict(error.facts)
    if isinstance(error, ValidationFailed):
        members["errors"] = error.errors
    problem = Problem(
        error.title(language),
        type_=error.slug,
        detail=error.detail(language),
        status=status_of(type(error)),
        correlation_id=correlation_id(),
        **members,
    )
    own = _headers_for(error) | {"Content-Language": language, "Vary": "Accept-Language"}
    return Response(
        orjson.dumps(problem.marshal(), default=str),
        status_code=problem.status,
        headers=own | dict(headers or {}),
        media_type=MEDIA_TYPE,
    )


def _headers_for(error: DomainError) -> dict[str, str]:
    match error:
        case TokenInvalid():
            return {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        case Unauthenticated():
            return {"WWW-Authenticate": "Bearer"}
        case ScopeMissing():
            return {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{error.facts["scope"]}"'}
        case TooManyRequests():
            return {"Retry-After": str(error.facts["retry_after_seconds"])}
        case Unavailable():
            return {"Retry-After": "1"}
        case _:
            return {}


async def domain_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DomainError)
    return problem_response(request, error)


async def validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return problem_response(request, ValidationFailed([_described(entry) for entry in error.errors()[:_MOST_ERRORS]]))


async def http_exception(request: Request, error: Exception) -> Response:
    """What Starlette and FastAPI raise themselves: unknown route, unknown method, unreadable body."""
    assert isinstance(error, HTTPException)
    match error.status_code:
        case 404:
            mapped: DomainError = RouteNotFound()
        case 405:
            mapped = MethodNotAllowed()
        case 400:
            mapped = RequestMalformed()
        case status if status < 500:
            mapped = RequestRefused()
        case _:
            mapped = UnexpectedError()
    headers = dict(error.headers or {})
    if isinstance(mapped, MethodNotAllowed):
        headers["Allow"] = _methods_at(request)
    return problem_response(request, mapped, headers)


def _methods_at(request: Request) -> str:
    """Every method that the address knows; the router names those of the first route that fits only."""
    routes = list(iter_route_contexts(request.app.routes))
    path = next((route.path for route in routes if route.endpoint is request.scope.get("endpoint")), None)
    methods = {method for route in routes if route.path == path for method in route.methods or ()}
    return ", ".join(sorted(methods))


def _described(entry: Mapping[str, Any]) -> dict[str, Any]:
    """One validation error, without the input: it may be large, or a secret."""
    place, *path = entry["loc"] or ("body",)
    described: dict[str, Any] = {"in": str(place)}
    if entry["type"] == "json_invalid":
        described["pointer"] = "#"
    elif place == "body":
        described["pointer"] = "#" + "".join("/" + _step(step) for step in path)
    elif path:
        described["name"] = _step(path[0])
    described["code"] = entry["type"]
    described["detail"] = _text(str(entry["msg"]))
    return described


def _step(step: object) -> str:
    return _text(str(step)).replace("~", "~0").replace("/", "~1")


def _text(text: str) -> str:
    """Bounded, and without the lone surrogates that a JSON key may hold and UTF-8 may not."""
    return text[:_LONGEST_TEXT].encode("utf-8", "replace").decode()
