"""The relay's way to Celery."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from uuid import UUID

import orjson

from service_platform.database import DATABASE_LOST, Database
from service_platform.outbox import Delivered, OutboxRow, SinkUnavailable
from service_platform.telemetry import get_logger

from .broker import Broker
from .log_events import JobsLogEvent
from .statements import JobStatements

if TYPE_CHECKING:
    from .hint_sender import HintSender

# What the note may take of a delivery's time. Sending has the rest: see `hint_sender.py`.
_NOTE_SECONDS = 1.0

_log = get_logger()


class CelerySink:
    """Sends the hints of jobs to their service's queue, a hundred in one round trip, and notes that they were sent.

    Celery's client blocks, so it has a thread of its own. It is also loaded there, when it is needed first: that
    takes as long as all else that a relay does until its first event is sent. A batch whose answer is lost counts as
    not sent: its hints may then come twice, and the second one claims nothing.

    The note keeps the sweep from sending the same hints again at once, and nothing else rests on it. One that fails or
    takes too long is given up, and the hints count as sent: sent again, they would fill the queue with doubles.
    """

    def __init__(self, broker: Broker, database: Database, *, resend_after_seconds: float) -> None:
        self._broker = broker
        self._statements = JobStatements(database)
        self._resend_after = resend_after_seconds
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="celery-sink")
        self._sender: HintSender | None = None

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        """Send as many of the rows as fit into a second or two.

        Raises `SinkUnavailable` when the broker is away.
        """
        outage: SinkUnavailable | None = None
        try:
            sent = await asyncio.get_running_loop().run_in_executor(self._thread, self._send, rows)
        except SinkUnavailable as error:
            sent, outage = error.acknowledged, error
        if sent:
            await self._note(row for row in rows if row.position in sent)
        if outage is not None:
            raise outage
        return Delivered(acknowledged=frozenset(sent))

    async def probe(self) -> None:
        """Raises `SinkUnavailable` unless the broker answers."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._ping)

    async def close(self) -> None:
        """Close the connection to the broker."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
        self._thread.shutdown()

    async def _note(self, rows: Iterable[OutboxRow]) -> None:
        tokens = {UUID(row.key): orjson.loads(row.payload)["token"] for row in rows}
        try:
            async with asyncio.timeout(_NOTE_SECONDS):
                await self._statements.mark_dispatched(tokens, resend_after_seconds=self._resend_after)
        except DATABASE_LOST as error:
            _log.warning(JobsLogEvent.DISPATCH_NOT_NOTED, jobs=len(tokens), error=repr(error))

    def _send(self, rows: Sequence[OutboxRow]) -> frozenset[int]:
        return self._loaded().send(rows)

    def _ping(self) -> None:
        self._loaded().ping()

    def _disconnect(self) -> None:
        if self._sender is not None:
            self._sender.disconnect()

    def _loaded(self) -> HintSender:
        if self._sender is None:
            from .hint_sender import HintSender  # noqa: PLC0415 - loads Celery

            self._sender = HintSender(self._broker)
        return self._sender
