"""The webhook outbox: an event and its delivery are rows of the transaction that changed the object."""

import json
import secrets
from typing import Any

from provider_double.calls import Call, encode
from provider_double.store import Store

API_VERSION = "2026-10-28.endive"


class Events:
    """Records events; `enabled` says whether there is an endpoint that they are to be delivered to."""

    def __init__(self, store: Store, *, enabled: bool) -> None:
        self._connection = store.connection
        self._enabled = enabled
        self.to_duplicate = 0

    def record(self, type_: str, document: dict[str, Any], call: Call, now: float) -> None:
        """Inside the transaction of the change: the event with the object as it is now, due for delivery at once."""
        identifier = f"evt_{secrets.token_hex(12)}"
        event = {
            "id": identifier,
            "object": "event",
            "api_version": API_VERSION,
            "created": int(now),
            "data": {"object": document},
            "livemode": False,
            "pending_webhooks": 1 if self._enabled else 0,
            "request": {"id": call.request_id, "idempotency_key": call.idempotency_key},
            "type": type_,
        }
        self._connection.execute(
            "insert into events (id, type, object, created, body) values (?, ?, ?, ?, ?)",
            (identifier, type_, document["id"], now, encode(event)),
        )
        if self._enabled:
            self.deliver(identifier, 2 if self.to_duplicate else 1, now)
            self.to_duplicate = max(0, self.to_duplicate - 1)

    def deliver(self, event: str, times: int, now: float) -> None:
        """Enqueue so many deliveries of a recorded event, all due now."""
        self._connection.executemany("insert into deliveries (event, due) values (?, ?)", [(event, now)] * times)

    def exists(self, event: str) -> bool:
        return self._connection.execute("select 1 from events where id = ?", (event,)).fetchone() is not None

    def page(self, after: int, limit: int, object_: str | None) -> list[dict[str, Any]]:
        """Events with `seq` above `after`, oldest first, each with its deliveries."""
        rows = self._connection.execute(
            "select * from events where seq > ? and (? is null or object = ?) order by seq limit ?",
            (after, object_, object_, limit),
        )
        return [
            {**dict(row), "body": json.loads(row["body"]), "deliveries": self._deliveries(row["id"])} for row in rows
        ]

    def _deliveries(self, event: str) -> list[dict[str, Any]]:
        rows = self._connection.execute("select * from deliveries where event = ? order by seq", (event,))
        return [dict(row) for row in rows]
