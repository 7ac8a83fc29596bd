"""The problems that the HTTP edge itself reports.

DomainError
├── Malformed
│   ├── RequestMalformed            400  the body cannot be parsed
│   ├── IdempotencyKeyMissing       400
│   └── IdempotencyKeyMalformed     400
├── Unauthenticated
│   ├── TokenMissing                401
│   └── TokenInvalid                401  why is logged, never told
├── Forbidden
│   └── ScopeMissing                403
├── NotFound
│   └── RouteNotFound               404
├── Invalid
│   ├── ValidationFailed            422
│   ├── NulCharacter                422
│   ├── pagination.CursorInvalid    422
│   └── idempotency.IdempotencyKeyReused   422
├── Unavailable
│   └── KeysUnavailable             503
└── EdgeError                       what only HTTP knows; each has its own status
    ├── MethodNotAllowed            405
    ├── RequestTooSlow              408
    ├── ContentTooLarge             413
    ├── UnsupportedMediaType        415
    ├── TooManyRequests             429
    ├── RequestRefused              any other 4xx
    └── UnexpectedError             500
"""

from __future__ import annotations

from typing import Any, ClassVar

from service_platform.errors import (
    DomainError,
    Forbidden,
    Invalid,
    Malformed,
    NotFound,
    Unauthenticated,
    Unavailable,
)

from .messages import MESSAGES


class RequestMalformed(Malformed, messages=MESSAGES):
    slug = "malformed-request"


class IdempotencyKeyMissing(Malformed, messages=MESSAGES):
    slug = "idempotency-key-missing"


class IdempotencyKeyMalformed(Malformed, messages=MESSAGES):
    slug = "idempotency-key-malformed"
    example: ClassVar = {"longest": 128}


class TokenMissing(Unauthenticated, messages=MESSAGES):
    slug = "token-missing"


class TokenInvalid(Unauthenticated, messages=MESSAGES):
    slug = "token-invalid"


class ScopeMissing(Forbidden, messages=MESSAGES):
    slug = "scope-missing"
    example: ClassVar = {"scope": "orders:read"}


class RouteNotFound(NotFound, messages=MESSAGES):
    slug = "not-found"


class ValidationFailed(Invalid, messages=MESSAGES):
    """`errors` says what is wrong where: `in`, `pointer` (JSON pointer, RFC 6901) or `name`, `code`, `detail`."""

    slug = "validation-failed"
    example_errors: ClassVar[list[dict[str, Any]]] = [
        {
            "in": "body",
            "pointer": "#/lines/0/quantity",
            "code": "greater_than_equal",
            "detail": "Input should be greater than or equal to 1",
        }
    ]

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__()
        self.errors = errors


class NulCharacter(Invalid, messages=MESSAGES):
    """PostgreSQL can store no NUL in a text or jsonb, so it is refused before it gets anywhere."""

    slug = "nul-character"


class KeysUnavailable(Unavailable, messages=MESSAGES):
    slug = "keys-unavailable"


class EdgeError(DomainError):
    """What only HTTP knows."""

    status: ClassVar[int]


class MethodNotAllowed(EdgeError, messages=MESSAGES):
    slug = "method-not-allowed"
    status = 405


class RequestTooSlow(EdgeError, messages=MESSAGES):
    slug = "request-too-slow"
    status = 408


class ContentTooLarge(EdgeError, messages=MESSAGES):
    slug = "content-too-large"
    example: ClassVar = {"limit_bytes": 262144}
    status = 413


class UnsupportedMediaType(EdgeError, messages=MESSAGES):
    slug = "unsupported-media-type"
    status = 415


class TooManyRequests(EdgeError, messages=MESSAGES):
    """One caller asked more often than the service's limit; `retry_after_seconds` is when to come again."""

    slug = "too-many-requests"
    status = 429
    example: ClassVar = {"retry_after_seconds": 3}


class RequestRefused(EdgeError, messages=MESSAGES):
    slug = "request-refused"
    status = 400


class UnexpectedError(EdgeError, messages=MESSAGES):
    slug = "unexpected-error"
    status = 500
