"""The claim of an idempotency key: a creating request takes effect once, however often it is sent.

After the IETF draft "The Idempotency-Key HTTP Header Field", and Stripe's API for what a replay answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson
from pydantic import BaseModel

from service_platform.database import ClaimRefused, Transaction, TransactionPart

from .errors import IdempotencyKeyReused

_INSERT = """
    INSERT INTO idempotency_key (subject, operation, key, fingerprint) VALUES ($1, $2, $3, $4)
    ON CONFLICT (subject, operation, key) DO NOTHING RETURNING true
"""
_READ = """
    SELECT fingerprint, status, answer FROM idempotency_key WHERE subject = $1 AND operation = $2 AND key = $3
"""
_ANSWER = """
    UPDATE idempotency_key SET status = $4, answer = $5 WHERE subject = $1 AND operation = $2 AND key = $3
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


class Headers(Protocol):
    """The headers of the response that a route prepares, as far as a claim knows them."""

    def __setitem__(self, name: str, value: str, /) -> None: ...


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """A caller's key for one operation, and the fingerprint of what was asked.

    The first transaction with it wins; a second one at the same time waits for the first to end. `status` and
    `location` (a template over the answer's fields, `/orders/{id}`) are what the answer is sent with; `headers` are
    those of the response that the route prepares.
    """

    subject: str
    operation: str
    key: str
    fingerprint: bytes
    status: int = 201
    location: str | None = None
    headers: Headers | None = field(default=None, repr=False, compare=False)

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
        if location and self.headers is not None:
            self.headers["Location"] = location

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
