"""Sends the webhook outbox: signed, at least once, in no promised order, with growing pauses after a failure."""

import asyncio
import hashlib
import hmac
import sqlite3
import time

import httpx

from provider_double.adjustments import Adjustments
from provider_double.store import Store

_AT_ONCE = 8
_TIMEOUT_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 60.0
_MOST_ATTEMPTS = 20


def sign(body: str, secret: str, timestamp: int) -> str:
    """A `Stripe-Signature` header: HMAC-SHA256 over `<timestamp>.<body>`, scheme v1.

    https://docs.stripe.com/webhooks/signature
    """
    digest = hmac.new(secret.encode(), f"{timestamp}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={digest}"


class Deliverer:
    """One loop over the due deliveries; `run` is the body of the task that the application owns."""

    def __init__(self, store: Store, adjustments: Adjustments, url: str, secret: str) -> None:
        self._connection = store.connection
        self._adjustments = adjustments
        self._url = url
        self._secret = secret
        self._wake = asyncio.Event()
        self._paused = False

    def wake(self) -> None:
        """There may be a delivery due earlier than the loop knows."""
        self._wake.set()

    @property
    def paused(self) -> bool:
        """While True, events pile up and only an explicit resume sends them."""
        return self._paused

    @paused.setter
    def paused(self, value: bool) -> None:
        self._paused = value
        self.wake()

    async def run(self) -> None:
        """Deliver until cancelled. A delivery that was under way then is sent again by the next start."""
        async with httpx.AsyncClient(timeout=_TIMEOUT_SECONDS) as client:
            while True:
                self._wake.clear()
                due = [] if self._paused else self._due()
                if due:
                    async with asyncio.TaskGroup() as group:
                        for delivery in due:
                            group.create_task(self._deliver(client, delivery))
                else:
                    await self._sleep()

    async def _sleep(self) -> None:
        row = self._connection.execute("select min(due) from deliveries where due is not null").fetchone()
        pause = None if self._paused or row[0] is None else max(0.0, row[0] - self._adjustments.now())
        try:
            async with asyncio.timeout(pause):
                await self._wake.wait()
        except TimeoutError:
            pass

    def _due(self) -> list[sqlite3.Row]:
        return self._connection.execute(
            "select deliveries.seq as seq, deliveries.attempts as attempts, events.body as body"
            " from deliveries join events on events.id = deliveries.event"
            " where due is not null and due <= ? order by deliveries.seq limit ?",
            (self._adjustments.now(), _AT_ONCE),
        ).fetchall()

    async def _deliver(self, client: httpx.AsyncClient, delivery: sqlite3.Row) -> None:
        body: str = delivery["body"]
        # Signed with real time, whatever the shifted clock says: a receiver checks it against its own clock.
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "Stripe-Signature": sign(body, self._secret, int(time.time())),
        }
        status: int | None = None
        error: str | None = None
        try:
            response = await client.post(self._url, content=body.encode(), headers=headers)
            status = response.status_code
        except httpx.HTTPError as failure:
            error = f"{type(failure).__name__}: {failure}"
        self._note(delivery, status, error)

    def _note(self, delivery: sqlite3.Row, status: int | None, error: str | None) -> None:
        attempts = delivery["attempts"] + 1
        now = self._adjustments.now()
        delivered = status is not None and 200 <= status < 300
        pause = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**attempts)
        due = None if delivered or attempts >= _MOST_ATTEMPTS else now + pause
        self._connection.execute(
            "update deliveries set attempts = ?, due = ?, delivered_at = ?, last_status = ?, last_error = ?"
            " where seq = ?",
            (attempts, due, now if delivered else None, status, error, delivery["seq"]),
        )
