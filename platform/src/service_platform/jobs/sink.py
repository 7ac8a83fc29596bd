"""The relay's way to Celery."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import orjson
from celery import Celery
from kombu.connection import Connection
from kombu.exceptions import KombuError, OperationalError
from redis.exceptions import RedisError

from service_platform.database import Database
from service_platform.outbox import Delivered, OutboxRow, SinkUnavailable

from .broker import RUN_TASK, Broker, celery_app
from .statements import JobStatements
from .sweep import RESEND_AFTER_SECONDS

_BROKER_LOST = (OSError, KombuError, OperationalError, RedisError)
# The relay tries again, and must not be kept waiting beyond its delivery deadline.
_ONE_TRY = {"max_retries": 0, "socket_timeout": 2.0, "socket_connect_timeout": 2.0}


class CelerySink:
    """Sends the hints of jobs to their service's queue, a batch in one round trip, and notes that they were sent.

    Celery's client blocks, so it has a thread of its own. A batch whose answer is lost counts as not sent: its hints
    may then come twice, and the second one claims nothing.
    """

    def __init__(
        self, broker: Broker, database: Database, *, resend_after_seconds: float = RESEND_AFTER_SECONDS
    ) -> None:
        self._app: Celery = celery_app(broker)
        self._queue = broker.queue
        self._statements = JobStatements(database)
        self._resend_after = resend_after_seconds
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="celery-sink")
        self._connection: Connection | None = None

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        """Send one task a row, with the job's key as its id. Raises `SinkUnavailable` when the broker is away."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._send, rows)
        jobs = [UUID(row.key) for row in rows]
        await self._statements.mark_dispatched(jobs, resend_after_seconds=self._resend_after)
        return Delivered(acknowledged=frozenset(row.position for row in rows))

    async def probe(self) -> None:
        """Raises `SinkUnavailable` unless the broker answers."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._ping)

    async def close(self) -> None:
        """Close the connection to the broker."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
        self._thread.shutdown()

    def _send(self, rows: Sequence[OutboxRow]) -> None:
        try:
            producer = self._app.amqp.Producer(self._connected(), auto_declare=False)
            with producer.batch(max_size=len(rows)):
                for row in rows:
                    hint = orjson.loads(row.payload)
                    self._app.send_task(
                        RUN_TASK,
                        args=(hint["kind"], hint["job_id"]),
                        task_id=hint["job_key"],
                        queue=row.destination,
                        producer=producer,
                        retry=False,
                        declare=[],
                    )
        except _BROKER_LOST as error:
            self._disconnect()
            raise SinkUnavailable(f"Redis: {error!r}") from error

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
