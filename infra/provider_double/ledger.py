"""The judge: which calls came, and which of them moved money."""

import json
import sqlite3
from typing import Any, Literal

from provider_double.calls import Answer, Call
from provider_double.store import Store

MoveKind = Literal["capture", "refund"]

# What became of a call: still under way (or cut off by a crash), answered, dropped before any effect, or its effect
# applied and only the answer lost.
Fate = Literal["in_flight", "answered", "dropped", "answer_dropped"]


class Ledger:
    """Append-only rows with growing `seq`. Writers call it inside the transaction of the effect it reports."""

    def __init__(self, store: Store) -> None:
        self._connection = store.connection

    def identify(self, call: Call) -> None:
        """Fill in the intent's `payment_id` and `order_id` metadata, from the stored intent or the call's own."""
        metadata: Any = call.params.get("metadata")
        if call.intent is not None:
            row = self._connection.execute("select doc from intents where id = ?", (call.intent,)).fetchone()
            if row is not None:
                metadata = json.loads(row["doc"])["metadata"]
        if isinstance(metadata, dict):
            call.payment_id = _text(metadata.get("payment_id"))
            call.order_id = _text(metadata.get("order_id"))

    def arrived(self, call: Call, at: float) -> None:
        cursor = self._connection.execute(
            "insert into calls (at, operation, request_id, idempotency_key, intent, refund, payment_id, order_id)"
            " values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                at,
                call.operation,
                call.request_id,
                call.idempotency_key,
                call.intent,
                call.refund,
                call.payment_id,
                call.order_id,
            ),
        )
        call.seq = cursor.lastrowid or 0

    def ended(self, call: Call, fate: Fate, answer: Answer | None = None) -> None:
        """Record the fate. `answer` is what the provider decided, also when the client never sees it."""
        self._connection.execute(
            "update calls set fate = ?, status = ?, error_code = ?, replayed = ?, intent = ?, refund = ?,"
            " moved_money = ? where seq = ?",
            (
                fate,
                answer.status if answer else None,
                answer.error_code if answer else None,
                answer is not None and answer.replay_of is not None,
                call.intent,
                call.refund,
                call.moved_money,
                call.seq,
            ),
        )

    def money_moved(
        self, call: Call, kind: MoveKind, intent: dict[str, Any], *, amount: int, at: float, refund: str | None = None
    ) -> None:
        """One capture or refund of `amount` minor units, always positive."""
        metadata = intent["metadata"]
        self._connection.execute(
            "insert into moves"
            " (at, kind, intent, refund, call, amount, currency, payment_id, order_id, idempotency_key)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                at,
                kind,
                intent["id"],
                refund,
                call.seq,
                amount,
                intent["currency"],
                metadata.get("payment_id"),
                metadata.get("order_id"),
                call.idempotency_key,
            ),
        )
        call.moved_money = True

    def refunded(self, intent: str) -> int:
        """Minor units refunded of this intent so far."""
        row = self._connection.execute(
            "select coalesce(sum(amount), 0) from moves where intent = ? and kind = 'refund'", (intent,)
        ).fetchone()
        return int(row[0])

    def calls(self, after: int, limit: int, **equal: str | None) -> list[dict[str, Any]]:
        """Calls with `seq` above `after`, oldest first, where each given column has that value."""
        rows = self._select("calls", after, limit, equal)
        return [
            {**dict(row), "replayed": bool(row["replayed"]), "moved_money": bool(row["moved_money"])} for row in rows
        ]

    def moves(self, after: int, limit: int, **equal: str | None) -> list[dict[str, Any]]:
        """Money moves with `seq` above `after`, oldest first, where each given column has that value."""
        return [dict(row) for row in self._select("moves", after, limit, equal)]

    def sums(self, **equal: str | None) -> list[dict[str, Any]]:
        """Per currency: captured, refunded and net minor units, and how many captures and refunds made them."""
        where, values = _conditions(equal)
        rows = self._connection.execute(
            "select currency,"
            " sum(case kind when 'capture' then amount else 0 end) as captured,"
            " sum(case kind when 'refund' then amount else 0 end) as refunded,"
            " sum(kind = 'capture') as captures, sum(kind = 'refund') as refunds,"
            " count(distinct intent) as intents"
            f" from moves where {where} group by currency order by currency",
            values,
        )
        return [{**dict(row), "net": row["captured"] - row["refunded"]} for row in rows]

    def _select(self, table: str, after: int, limit: int, equal: dict[str, str | None]) -> list[sqlite3.Row]:
        where, values = _conditions(equal)
        return self._connection.execute(
            f"select * from {table} where seq > ? and {where} order by seq limit ?", (after, *values, limit)
        ).fetchall()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _conditions(equal: dict[str, str | None]) -> tuple[str, list[str]]:
    given = {column: value for column, value in equal.items() if value is not None}
    return " and ".join(["true", *(f"{column} = ?" for column in given)]), list(given.values())
