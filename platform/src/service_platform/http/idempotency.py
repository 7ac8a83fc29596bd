"""Idempotency-Key: a creating request takes effect once, however often it is sent.

After the IETF draft "The Idempotency-Key HTTP Header Field", and Stripe's API for what a replay answers.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Annotated, Any

import orjson
from fastapi import Depends, Header
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from service_platform.database import ClaimRefused, Transaction, TransactionPart

from .access import authenticate
from .errors import IdempotencyKeyMalformed, IdempotencyKeyMissing, IdempotencyKeyReused

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
LONGEST_KEY = 128

_KEY = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_KEY}}}")
_OPERATION = re.compile(r"[a-z][a-z0-9_]{0,63}")

_INSERT = """
    INSERT INTO http_idempotency (subject, operation, key, fingerprint) VALUES ($1, $2, $3, $4)
    ON CONFLICT (subject, operation, key) DO NOTHING RETURNING true
"""
_READ = """
    SELECT fingerprint, status, answer FROM http_idempotency WHERE subject = $1 AND operation = $2 AND key = $3
"""
_ANSWER = """
    UPDATE http_idempotency SET status = $4, answer = $5 WHERE subject = $1 AND operation = $2 AND key = $3
"""


class AlreadyAnswered(ClaimRefused):
    """The key was used for this very request; `body` (JSON) was answered with `status`, and is again."""

    def __init__(self, *, status: int, body: str, location: str | None) -> None:
        super().__init__("The Idempotency-Key was answered before")
        self.status = status
        self.body = body
        self.location = location


class Unanswered(RuntimeError):
    """A use case committed under an idempotency key without `answer`: a repeat could not be answered."""


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """A caller's key for one operation, and the fingerprint of what was asked.

    The first transaction with it wins; a second one at the same time waits for the first to end. `status` and
    `location` (a template over the answer's fields, `/orders/{id}`) are what the answer is sent with; `response` is the
    one that the route prepares.
    """

    subject: str
    operation: str
    key: str
    fingerprint: bytes
    status: int = 201
    location: str | None = None
    response: Response | None = field(default=None, repr=False, compare=False)

    async def acquire(self, tx: Transaction) -> None:
        """Take the key, as the transaction's first statement.

        Raises AlreadyAnswered when the same request took effect before, IdempotencyKeyReused when another one did.
        """
        row = (self.subject, self.operation, self.key)
        connection = await tx.session.connection()
        for _ in range(2):  # between the two statements a purge may take the row away: then the key is free again
            inserted = await connection.exec_driver_sql(_INSERT, (*row, self.fingerprint))
            if inserted.first() is not None:
                tx.part(_AnswerOwed).owe(self)
                return
            first = (await connection.exec_driver_sql(_READ, row)).first()
            if first is not None:
                if bytes(first.fingerprint) != self.fingerprint:
                    raise IdempotencyKeyReused
                raise AlreadyAnswered(
                    status=first.status, body=first.answer, location=self.location_of(orjson.loads(first.answer))
                )
        raise RuntimeError("the idempotency key was taken and released twice within one claim")

    async def answer(self, view: BaseModel, tx: Transaction) -> None:
        """Keep `view`, which is the response, for later repeats; it is written in the same transaction."""
        tx.part(_AnswerOwed).give(self, view.model_dump_json(by_alias=True))
        location = self.location_of(view.model_dump(mode="json", by_alias=True)) if self.location else None
        if location and self.response is not None:
            self.response.headers["Location"] = location

    def location_of(self, answer: dict[str, Any]) -> str | None:
        """The address of what was made, from the fields of the answer."""
        return self.location.format_map(answer) if self.location else None


class _AnswerOwed(TransactionPart):
    """Sees to it that no key is committed without its answer."""

    def __init__(self) -> None:
        self._claim: IdempotencyClaim | None = None
        self._body: str | None = None

    def owe(self, claim: IdempotencyClaim) -> None:
        self._claim = claim

    def give(self, claim: IdempotencyClaim, body: str) -> None:
        self._claim, self._body = claim, body

    async def before_commit(self, tx: Transaction) -> None:
        claim = self._claim
        if claim is None or self._body is None:
            raise Unanswered(
                "The transaction took an Idempotency-Key and gave no answer. Call "
                "`await command.idempotency.answer(view, tx)` before it ends."
            )
        connection = await tx.session.connection()
        await connection.exec_driver_sql(_ANSWER, (claim.subject, claim.operation, claim.key, claim.status, self._body))


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
            response=response,
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
