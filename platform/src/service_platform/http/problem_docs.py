"""Problems as the OpenAPI document shows them: which types a status can have, with an example of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rfc9457 import Problem
from rfc9457.openapi import problem_component

from service_platform.errors import DomainError

from .errors import ValidationFailed
from .problems import MEDIA_TYPE, status_of

Document = dict[str, Any]

PROBLEM: Final = "Problem"
_CORRELATION_ID: Final = "8b1f6c0d2e3a4f5b9c7d1e0f2a3b4c5d"
_TEXT: Final = {"type": "string"}
_HEADERS: Final[Mapping[int, Document]] = {
    401: {"WWW-Authenticate": {"description": "RFC 6750", "required": True, "schema": _TEXT}},
    403: {"WWW-Authenticate": {"description": "RFC 6750, with the scope", "required": True, "schema": _TEXT}},
    429: {"Retry-After": {"description": "In seconds", "required": True, "schema": {"type": "integer", "minimum": 1}}},
    503: {"Retry-After": {"description": "In seconds", "required": True, "schema": {"type": "integer", "minimum": 1}}},
}


def problems_of(*errors: type[DomainError]) -> dict[int | str, Document]:
    """What a route refuses, for its `responses`: `@router.post("/x", responses=problems_of(OrderNotFound))`.

    What the edge refuses of every route stands in the document by itself.
    """
    by_status: dict[int, list[type[DomainError]]] = {}
    for error in errors:
        by_status.setdefault(status_of(error), []).append(error)
    return {status: answer_of(*kinds) for status, kinds in sorted(by_status.items())}


def answer_of(*errors: type[DomainError], **facts: str) -> Document:
    """An answer that is one of these problems, all of one status. `facts` stand in place of the examples' own."""
    status = status_of(errors[0])
    schema = {
        "allOf": [{"$ref": f"#/components/schemas/{PROBLEM}"}],
        "type": "object",
        "properties": {"type": {"enum": [error.slug for error in errors]}},
    }
    examples = {error.slug: {"value": example_problem(error, **facts)} for error in errors}
    described = {
        "description": ". ".join(f"`{error.slug}`: {error.title('en')}" for error in errors),
        "content": {MEDIA_TYPE: {"schema": schema, "examples": examples}},
    }
    return described | ({"headers": _HEADERS[status]} if status in _HEADERS else {})


def together(first: Document, second: Document) -> Document:
    """An answer that is a problem of the one or of the other."""
    mine, other = (answer["content"][MEDIA_TYPE] for answer in (first, second))
    types = [content["schema"]["properties"]["type"]["enum"] for content in (mine, other)]
    schema = mine["schema"] | {"properties": {"type": {"enum": [*types[0], *types[1]]}}}
    return first | {
        "description": f"{first['description']}. {second['description']}",
        "content": {MEDIA_TYPE: {"schema": schema, "examples": mine["examples"] | other["examples"]}},
    }


def example_problem(error: type[DomainError], **facts: str) -> dict[str, Any]:
    """What a caller gets, with the facts of the error's own example."""
    members: dict[str, Any] = {**error.example, **facts}
    if issubclass(error, ValidationFailed):
        members["errors"] = error.example_errors
    return Problem(
        error.title("en"),
        type_=error.slug,
        detail=error.detail_of(members, "en"),
        status=status_of(error),
        correlation_id=_CORRELATION_ID,
        **members,
    ).marshal()


def problem_schema() -> Document:
    """The schema of every problem. A type has further members of its own, which its example shows."""
    wrong = {
        "type": "object",
        "required": ["in", "code", "detail"],
        "properties": {
            "in": {"type": "string", "enum": ["body", "query", "path", "header", "cookie"]},
            "pointer": _TEXT | {"description": "Where in the body: a JSON pointer (RFC 6901) as a fragment"},
            "name": _TEXT | {"description": "Of the parameter"},
            "code": _TEXT,
            "detail": _TEXT,
        },
    }
    schema = problem_component(
        PROBLEM,
        required=["correlation_id"],
        detail=_TEXT,
        correlation_id=_TEXT | {"description": "Of the request: what the logs know it by"},
        errors={"type": "array", "items": wrong, "description": "What is wrong where; only of `validation-failed`"},
    )
    return {"description": "RFC 9457. `title` and `detail` are in the language of Accept-Language.", **schema}
