"""One call of a client, from its arrival to its answer."""

import json
from dataclasses import dataclass, field
from typing import Any

from provider_double.errors import ProviderError


@dataclass(slots=True)
class Call:
    """What came in, and what is known about it. `seq` is its place in the ledger, 0 until it stands there."""

    operation: str
    method: str
    path: str
    params: dict[str, Any]
    request_id: str
    idempotency_key: str | None
    intent: str | None = None
    refund: str | None = None
    payment_id: str | None = None
    order_id: str | None = None
    seq: int = 0
    moved_money: bool = False

    @property
    def endpoint(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and JSON body. `replay_of` is the request whose stored answer this repeats."""

    status: int
    body: str
    error_code: str | None = None
    replay_of: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, document: dict[str, Any]) -> "Answer":
        return cls(200, encode(document))

    @classmethod
    def refusal(cls, error: ProviderError) -> "Answer":
        return cls(error.status, encode(error.body), error.code or error.type, headers=dict(error.headers))


# `json.dumps` with options makes an encoder a call.
encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
