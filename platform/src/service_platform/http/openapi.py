"""What the OpenAPI document says beyond the routes' own types: tokens, scopes, problems, idempotency keys, examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeGuard

from fastapi import FastAPI
from fastapi.routing import APIRoute, RouteContext, iter_route_contexts
from pydantic import BaseModel

from service_platform.errors import DomainError
from service_platform.idempotency import IdempotencyKeyReused
from service_platform.pagination import CursorInvalid

from .access import required_scope
from .errors import (
    ContentTooLarge,
    IdempotencyKeyMalformed,
    IdempotencyKeyMissing,
    KeysUnavailable,
    NulCharacter,
    RequestMalformed,
    RequestTooSlow,
    ScopeMissing,
    TokenInvalid,
    TokenMissing,
    TooManyRequests,
    UnexpectedError,
    UnsupportedMediaType,
    ValidationFailed,
)
from .example import example_of
from .idempotency import HEADER, LONGEST_KEY, REPLAYED
from .problem_docs import PROBLEM, Document, answer_of, problem_schema, together
from .problems import MEDIA_TYPE

_JSON: Final = "application/json"
_UNUSED: Final = ("HTTPValidationError", "ValidationError")

_Errors = Sequence[type[DomainError]]

_OF_EVERY_ROUTE: Final[dict[str, _Errors]] = {
    "408": [RequestTooSlow],
    "413": [ContentTooLarge],
    "415": [UnsupportedMediaType],
    "500": [UnexpectedError],
}
_OF_A_GUARDED_ROUTE: Final[dict[str, _Errors]] = {
    "401": [TokenMissing, TokenInvalid],
    "429": [TooManyRequests],
    "503": [KeysUnavailable],
}


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


def _complete(app: FastAPI, document: Document) -> None:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in _UNUSED:
        schemas.pop(unused, None)
    schemas[PROBLEM] = problem_schema()
    components["responses"] = {
        _shared(status): answer_of(*errors) for status, errors in (_OF_EVERY_ROUTE | _OF_A_GUARDED_ROUTE).items()
    }
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
    routes = {
        (context.path_format, method.lower()): context
        for context in iter_route_contexts(app.routes)
        for method in context.methods or ()
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _complete_operation(operation, routes[path, method])


def _complete_operation(operation: Document, route: RouteContext) -> None:
    _give_examples(operation, route)
    key = _parameter(operation, "header", HEADER)
    if key is not None:
        key["required"] = True
        key["schema"] = {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"}
        _answered(operation)["headers"] = {
            "Location": {"description": "Of what was made", "schema": {"type": "string"}},
            REPLAYED: {"description": "`true`: the answer of the first request", "schema": {"const": "true"}},
        }
    responses = operation["responses"]
    if MEDIA_TYPE not in responses.get("422", {}).get("content", {}):
        responses.pop("422", None)  # FastAPI's own description of it
    _add(responses, "400", answer_of(RequestMalformed))
    _add(responses, "422", answer_of(NulCharacter))
    if "parameters" in operation or "requestBody" in operation:
        _add(responses, "422", answer_of(ValidationFailed))
    if _parameter(operation, "query", "cursor") is not None:
        _add(responses, "422", answer_of(CursorInvalid))
    if key is not None:
        _add(responses, "400", answer_of(IdempotencyKeyMissing, IdempotencyKeyMalformed))
        _add(responses, "422", answer_of(IdempotencyKeyReused))
    shared = dict(_OF_EVERY_ROUTE)
    scope = required_scope(route)
    if scope is not None:
        operation["security"] = [{"bearer": [scope]}]
        _add(responses, "403", answer_of(ScopeMissing, scope=scope))
        shared |= _OF_A_GUARDED_ROUTE
    responses |= {status: {"$ref": f"#/components/responses/{_shared(status)}"} for status in shared}
    operation["responses"] = dict(sorted(responses.items()))


def _give_examples(operation: Document, route: RouteContext) -> None:
    """An example of what is sent and of what is answered, from the models. What a route says of its own goes first.

    Done at the end, since FastAPI leaves every null out of the examples that pass through it.
    """
    original = route.original_route
    if not isinstance(original, APIRoute):
        return
    answered = _answered(operation).get("content", {}).get(_JSON)
    model: object = original.response_model
    if answered is not None and _is_model(model):
        answered["example"] = example_of(model) | answered.get("example", {})
    sent = operation.get("requestBody", {}).get("content", {}).get(_JSON, {})
    bodies = [field.field_info.annotation for field in original.dependant.body_params]
    if "examples" not in sent and len(bodies) == 1 and _is_model(bodies[0]):
        sent.setdefault("example", example_of(bodies[0]))


def _answered(operation: Document) -> Document:
    """The answer when all is well."""
    answer: Document = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    return answer


def _parameter(operation: Document, place: str, name: str) -> Document | None:
    return next((one for one in operation.get("parameters", ()) if (one["in"], one["name"]) == (place, name)), None)


def _add(responses: Document, status: str, answer: Document) -> None:
    responses[status] = together(responses[status], answer) if status in responses else answer


def _shared(status: str) -> str:
    """The name of an answer that the whole API shares."""
    (first, *_) = (_OF_EVERY_ROUTE | _OF_A_GUARDED_ROUTE)[status]
    return "Unauthenticated" if status == "401" else first.__name__


def _is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
