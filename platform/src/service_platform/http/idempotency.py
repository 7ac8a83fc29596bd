"""The header Idempotency-Key: from a request to the claim of its key, and from a stored answer back to a response."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Any

import orjson
from fastapi import Depends, Header
from starlette.requests import Request
from starlette.responses import Response

from service_platform.idempotency import AlreadyAnswered, IdempotencyClaim

from .access import authenticate
from .errors import IdempotencyKeyMalformed, IdempotencyKeyMissing

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
LONGEST_KEY = 128

_KEY = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_KEY}}}")
_OPERATION = re.compile(r"[a-z][a-z0-9_]{0,63}")


class RequiredKey:
    """The dependency behind `idempotency`."""

    def __init__(self, operation: str, status: int, location: str | None) -> None:
        self._operation = operation
        self._status = status
        self._location = location

    async def __call__(
        self,
        request: Request,
        response: Response,
        key: Annotated[str | None, Header(alias=HEADER, description="New for each thing you create")] = None,
    ) -> IdempotencyClaim:
        principal = await authenticate(request)
        if not key:
            raise IdempotencyKeyMissing
        if not _KEY.fullmatch(key):
            raise IdempotencyKeyMalformed(longest=LONGEST_KEY)
        return IdempotencyClaim(
            subject=principal.subject,
            operation=self._operation,
            key=key,
            fingerprint=_fingerprint(request.scope["path"], await request.body()),
            status=self._status,
            location=self._location,
            headers=response.headers,
        )


def idempotency(operation: str, *, status: int = 201, location: str | None = None) -> Any:
    """Require the header Idempotency-Key on a route, and receive the claim for the command:

        async def place(
            body: PlaceOrderBody,
            idempotency: Annotated[IdempotencyClaim, idempotency("place_order", location="/orders/{id}")],
        ) -> OrderView: …

    Keys are apart by caller and `operation`. `status` is the route's status. The fingerprint covers the path and the
    body, which is compared as JSON: spaces and the order of members do not matter.
    """
    if not _OPERATION.fullmatch(operation):
        raise ValueError(f"an operation is named like place_order, not {operation!r}")
    return Depends(RequiredKey(operation, status, location))


def _fingerprint(path: str, body: bytes) -> bytes:
    try:
        canonical = orjson.dumps(orjson.loads(body), option=orjson.OPT_SORT_KEYS)
    except ValueError:  # no JSON: the route's own validation says so
        canonical = body
    return hashlib.sha256(path.encode() + b"\0" + canonical).digest()


async def already_answered(_request: Request, error: Exception) -> Response:
    """The stored answer again, marked as a replay."""
    assert isinstance(error, AlreadyAnswered)
    headers = {REPLAYED: "true"}
    if error.location:
        headers["Location"] = error.location
    return Response(error.body, status_code=error.status, headers=headers, media_type="application/json")
