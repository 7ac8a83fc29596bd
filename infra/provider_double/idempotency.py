"""Stored answers: the first answer of an Idempotency-Key is the answer of every repeat, for 24 hours.

https://docs.stripe.com/api/idempotent_requests
"""

import hashlib
import json

from provider_double.calls import Answer, Call
from provider_double.errors import IdempotencyMismatchError
from provider_double.store import Store

KEPT_SECONDS = 24 * 3600


class StoredAnswers:
    """Used inside the transaction of the call, so that an effect and its stored answer exist together or not at all."""

    def __init__(self, store: Store) -> None:
        self._connection = store.connection

    def find(self, call: Call, now: float) -> Answer | None:
        """The answer to replay, or None for a key that is new or forgotten.

        Raises:
            IdempotencyMismatchError: the key belongs to another endpoint or other parameters.
        """
        row = self._connection.execute(
            "select * from idempotency_keys where key = ? and created > ?", (call.idempotency_key, now - KEPT_SECONDS)
        ).fetchone()
        if row is None:
            return None
        if row["endpoint"] != call.endpoint:
            raise IdempotencyMismatchError(
                "Keys for idempotent requests can only be used for the same endpoint they were first used for"
                f" ('{call.path}' vs '{row['endpoint'].split(' ')[1]}'). Try using a key other than"
                f" '{call.idempotency_key}' if you meant to execute a different request."
            )
        if row["fingerprint"] != _fingerprint(call):
            raise IdempotencyMismatchError(
                "Keys for idempotent requests can only be used with the same parameters they were first used with."
                f" Try using a key other than '{call.idempotency_key}' if you meant to execute a different request."
            )
        return Answer(row["status"], row["body"], replay_of=row["request_id"])

    def keep(self, call: Call, answer: Answer, now: float) -> None:
        self._connection.execute(
            "insert or replace into idempotency_keys"
            " (key, endpoint, fingerprint, created, status, body, request_id) values (?, ?, ?, ?, ?, ?, ?)",
            (
                call.idempotency_key,
                call.endpoint,
                _fingerprint(call),
                now,
                answer.status,
                answer.body,
                call.request_id,
            ),
        )


def _fingerprint(call: Call) -> str:
    return hashlib.sha256(json.dumps(call.params, sort_keys=True).encode()).hexdigest()
