"""The relay's way to Celery."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import orjson
from celery import Celery
from kombu.connection import Connection
from kombu.exceptions import KombuError, OperationalError
from kombu.messaging import Producer
from redis.exceptions import RedisError

from service_platform.database import Database
from service_platform.outbox import Delivered, OutboxRow, SinkUnavailable

from .broker import RUN_TASK, Broker, celery_app
from .statements import JobStatements

_BROKER_LOST = (OSError, KombuError, OperationalError, RedisError)
# The relay tries again, and must not be kept waiting beyond its delivery deadline.
_ONE_TRY = {"max_retries": 0, "socket_timeout": 2.0, "socket_connect_timeout": 2.0}

# Rows a round trip, and when to leave the rest of a batch to the next call: half a millisecond of CPU goes into each,
# which on a crowded machine may be ten, and the relay's delivery deadline is for the whole.
_CHUNK = 100
_ENOUGH_SECONDS = 1.0


class CelerySink:
    """Sends the hints of jobs to their service's queue, a hundred in one round trip, and notes that they were sent.

    Celery's client blocks, so it has a thread of its own. A batch whose answer is lost counts as not sent: its hints
    may then come twice, and the second one claims nothing.
    """

    def __init__(self, broker: Broker, database: Database, *, resend_after_seconds: float) -> None:
        self._app: Celery = celery_app(broker)
        self._queue = broker.queue
        self._statements = JobStatements(database)
        self._resend_after = resend_after_seconds
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="celery-sink")
        self._connection: Connection | None = None

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        """Send one task a row, with the job's key as its id; as many rows as fit into a second or two.

        Raises `SinkUnavailable` when the broker is away.
        """
        outage: SinkUnavailable | None = None
        try:
            sent = await asyncio.get_running_loop().run_in_executor(self._thread, self._send, rows)
        except SinkUnavailable as error:
            sent, outage = error.acknowledged, error
        if sent:
            tokens = {UUID(row.key): orjson.loads(row.payload)["token"] for row in rows if row.position in sent}
            await self._statements.mark_dispatched(tokens, resend_after_seconds=self._resend_after)
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

    def _send(self, rows: Sequence[OutboxRow]) -> frozenset[int]:
        """The positions that were sent."""
        sent: set[int] = set()
        enough = time.monotonic() + _ENOUGH_SECONDS
        try:
            producer = self._app.amqp.Producer(self._connected(), auto_declare=False)
            for start in range(0, len(rows), _CHUNK):
                chunk = rows[start : start + _CHUNK]
                with producer.batch(max_size=_CHUNK):
                    for row in chunk:
                        self._publish(row, producer)
                sent.update(row.position for row in chunk)
                if time.monotonic() > enough:
                    break
        except _BROKER_LOST as error:
            self._disconnect()
            raise SinkUnavailable(f"Redis: {error!r}", acknowledged=sent) from error
        return frozenset(sent)

    def _publish(self, row: OutboxRow, producer: Producer) -> None:
        hint = orjson.loads(row.payload)
        self._app.send_task(
            RUN_TASK,
            args=(hint["kind"], hint["job_id"]),
            argsrepr=hint["job_id"],
            kwargsrepr="",
            task_id=hint["job_key"],
            queue=row.destination,
            producer=producer,
            retry=False,
            declare=[],
        )

    def _ping(self) -> None:
        try:
            self._connected().default_channel.queue_declare(self._queue)  # type: ignore[no-untyped-call]
        except _BROKER_LOST as error:
            self._disconnect()
            raise SinkUnavailable(f"Redis: {error!r}") from error

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._app.connection_for_write(transport_options=_ONE_TRY)
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.release()  # type: ignore[no-untyped-call] # kombu is typed in part
