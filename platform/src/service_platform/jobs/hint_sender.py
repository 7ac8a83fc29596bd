"""Sending hints through Celery's client: all that a relay needs of Celery, loaded with the first of them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import orjson
from celery import Celery
from kombu.connection import Connection
from kombu.exceptions import KombuError, OperationalError
from kombu.messaging import Producer
from redis.exceptions import RedisError

from service_platform.outbox import OutboxRow, SinkUnavailable

from .broker import Broker
from .celery_app import RUN_TASK, celery_app

_BROKER_LOST = (OSError, KombuError, OperationalError, RedisError)
# The relay tries again, and must not be kept waiting beyond its delivery deadline.
_ONE_TRY = {"max_retries": 0, "socket_timeout": 2.0, "socket_connect_timeout": 2.0}

# Rows a round trip, and when to leave the rest of a batch to the next call: a tenth of a millisecond of CPU goes into
# each, which on a crowded machine may be two, and the relay's delivery deadline is for the whole.
_CHUNK = 100
_ENOUGH_SECONDS = 1.0


class HintSender:
    """Sends the hints of one service's jobs. It blocks, and belongs to one thread."""

    def __init__(self, broker: Broker) -> None:
        self._app: Celery = celery_app(broker)
        self._queue = broker.queue
        self._connection: Connection | None = None

    def send(self, rows: Sequence[OutboxRow]) -> frozenset[int]:
        """Send one task a row, with the job's key as its id; the positions of as many as fit into a second or two.

        Raises `SinkUnavailable`, with what was sent before, when the broker is away.
        """
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
            self.disconnect()
            raise SinkUnavailable(f"Redis: {error!r}", acknowledged=sent) from error
        return frozenset(sent)

    def ping(self) -> None:
        """Raises `SinkUnavailable` unless the broker answers."""
        try:
            self._connected().default_channel.queue_declare(self._queue)  # type: ignore[no-untyped-call]
        except _BROKER_LOST as error:
            self.disconnect()
            raise SinkUnavailable(f"Redis: {error!r}") from error

    def disconnect(self) -> None:
        """Close the connection to the broker; the next call opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.release()  # type: ignore[no-untyped-call] # kombu is typed in part

    def _publish(self, row: OutboxRow, producer: Producer) -> None:
        """What Celery's `send_task` sends, in half of its time: there is nothing to route, and nobody listens."""
        hint = orjson.loads(row.payload)
        message = self._app.amqp.create_task_message(
            hint["job_key"], RUN_TASK, (hint["kind"], hint["job_id"]), argsrepr=hint["job_id"], kwargsrepr=""
        )
        producer.publish(  # type: ignore[no-untyped-call] # kombu is typed in part
            message.body,
            exchange="",
            routing_key=row.destination,
            serializer="json",
            headers=message.headers,
            **message.properties,
        )

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._app.connection_for_write(transport_options=_ONE_TRY)
        return self._connection
