"""What the OpenAPI document says beyond the routes' own types: tokens, scopes, problems, idempotency keys."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from rfc9457.openapi import problem_component

from service_platform.errors import DomainError

from .access import required_scope
from .idempotency import HEADER, LONGEST_KEY
from .problems import MEDIA_TYPE, status_of

_PROBLEM = "Problem"
_VALIDATION_PROBLEM = "ValidationProblem"
_UNUSED = ("HTTPValidationError", "ValidationError")

Document = dict[str, Any]


def describe(app: FastAPI) -> None:
    """Make `app.openapi()` tell what the edge adds to every route."""
    plain = app.openapi
    complete: list[Document] = []

    def described() -> Document:
        if not complete:
            document = plain()
            _complete(app, document)
            complete.append(document)
        return complete[0]

    app.openapi = described  # type: ignore[method-assign]  # FastAPI's documented way to extend the document


def problems_of(*errors: type[DomainError]) -> dict[int | str, Document]:
    """What a route refuses, for its `responses`: `@router.post("/x", responses=problems_of(OrderNotFound))`."""
    titles: dict[int, list[str]] = {}
    for error in errors:
        titles.setdefault(status_of(error), []).append(f"`{error.slug}`: {error.title('en')}")
    return {status: _answer(". ".join(told), _PROBLEM) for status, told in sorted(titles.items())}


def _complete(app: FastAPI, document: Document) -> None:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in _UNUSED:
        schemas.pop(unused, None)
    schemas[_PROBLEM] = problem_component(_PROBLEM, detail=_text(), correlation_id=_text())
    schemas[_VALIDATION_PROBLEM] = problem_component(
        _VALIDATION_PROBLEM,
        required=["errors"],
        correlation_id=_text(),
        errors={"type": "array", "items": {"type": "object", "required": ["in", "code", "detail"]}},
    )
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
    scopes = {
        (route.path_format, method.lower()): required_scope(route)
        for route in iter_route_contexts(app.routes)
        for method in route.methods or ()
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _complete_operation(operation, scopes.get((path, method)))


def _complete_operation(operation: Document, scope: str | None) -> None:
    responses = operation["responses"]
    if "422" in responses:
        responses["422"] = _answer("The request is not valid", _VALIDATION_PROBLEM)
    if scope is not None:
        operation["security"] = [{"bearer": [scope]}]
        responses["401"] = _answer("No valid token", _PROBLEM)
        responses["403"] = _answer(f"The token lacks the scope {scope}", _PROBLEM)
    responses["default"] = _answer("Any other problem", _PROBLEM)
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "header" and parameter["name"] == HEADER:
            parameter["required"] = True
            parameter["schema"] = {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"}


def _answer(description: str, schema: str) -> Document:
    content = {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"description": description, "content": content}


def _text() -> Document:
    return {"type": "string"}
