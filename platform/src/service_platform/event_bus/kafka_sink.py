"""The relay's far end in Kafka: a batch, one wait, and only what the broker acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import orjson
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from service_platform.outbox import Delivered, OutboxRow, SinkUnavailable
from service_platform.telemetry import get_logger

from .log_events import EventBusLogEvent

# A whole call stays below outbox.connection.DELIVERY_DEADLINE: this, and a second at most to drain a producer.
_DEADLINE_SECONDS = 3.5
_METADATA_SECONDS = 2.0

# A client that lingers sends few large requests, one that does not sends at once. A backlog wants the one and a
# single event the other, so there is a client for each. Both are empty between two calls, so order is not at stake.
_BULK_ROWS = 50
_BULK_LINGER_MS = 5

# A verdict on the record: sending it again, or somewhere else, would get the same.
_REFUSALS = {
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_RECORD,
    KafkaError.INVALID_TIMESTAMP,
    KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    KafkaError._INVALID_ARG,
}
# The trouble is one topic's; the broker is well.
_TOPIC_TROUBLES = {
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_EXCEPTION,
}

_log = get_logger()
_client_log = logging.getLogger("librdkafka")


class KafkaSink:
    """Delivers to Kafka, in order.

    A resend never overtakes: the producer is idempotent (the broker refuses a batch that arrives ahead of its
    predecessor) and gapless (a batch that fails for good ends the producer, and with it everything queued behind),
    and no record expires in the client. At the deadline, and after such an end, what is queued is purged and the
    producer replaced, so nothing of an earlier call is waiting when the next one begins. What the broker may still
    find on the old connection began at the same first row or before, and goes up in order.
    """

    def __init__(self, bootstrap_servers: str, *, client_id: str = "relay") -> None:
        self._settings: dict[str, str | int | float | bool] = {
            "bootstrap.servers": bootstrap_servers,
            "client.id": client_id,
            "acks": "all",
            "enable.idempotence": True,
            "enable.gapless.guarantee": True,
            "message.timeout.ms": 0,
            "message.max.bytes": 1024 * 1024,
            "queue.buffering.max.messages": 100_000,
            "topic.metadata.propagation.max.ms": 2_000,
            "reconnect.backoff.ms": 50,
            "reconnect.backoff.max.ms": 1_000,
            "socket.keepalive.enable": True,
        }
        self._producers: dict[bool, Producer] = {}  # by whether it is the one for a backlog
        self._known_topics: set[str] = set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kafka-sink")

    async def deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._deliver, rows)

    async def probe(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._probe)

    async def close(self) -> None:
        """Let the client go. Nothing is queued between two calls, so nothing is lost."""
        for producer in list(self._producers.values()):
            await asyncio.get_running_loop().run_in_executor(self._thread, self._discard, producer)
        self._thread.shutdown()

    def _probe(self) -> None:
        try:
            self._client().list_topics(timeout=_METADATA_SECONDS)
        except KafkaException as error:
            raise SinkUnavailable(str(error)) from error

    def _deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        deadline = time.monotonic() + _DEADLINE_SECONDS
        producer = self._client(bulk=len(rows) >= _BULK_ROWS)
        absent = self._absent_topics(producer, {row.destination for row in rows}, deadline)
        outcomes: dict[int, KafkaError | None] = {}  # by position; None is an acknowledgement
        failed_keys: set[int] = set()
        tried = 0
        for row in rows:
            if row.destination in absent or (failed_keys and row.ordering_key in failed_keys):
                continue
            try:
                producer.produce(
                    row.destination,
                    value=row.payload,
                    key=row.key,
                    headers=orjson.loads(row.headers),
                    on_delivery=partial(_note, outcomes, row.position),
                )
            except KafkaException as error:
                outcomes[row.position] = error.args[0]
                failed_keys.add(row.ordering_key)
            except BufferError:
                break  # the client's queue is full; the rest stays pending for the next pass
            tried += 1
        overdue = not self._await_reports(producer, outcomes, tried, deadline)
        return _judge(rows, outcomes, absent, overdue=overdue)

    def _await_reports(
        self, producer: Producer, outcomes: dict[int, KafkaError | None], expected: int, deadline: float
    ) -> bool:
        """Serve the delivery reports; whether all came in time. Afterwards nothing is left in the client.

        Polled, since `flush` cannot be used with a gapless producer: its fatal error is raised from within a poll,
        and `flush` would go on to run the reports' callbacks with that exception set.
        """
        is_broken = False
        while len(outcomes) < expected and (left := deadline - time.monotonic()) > 0 and not is_broken:
            try:
                producer.poll(left)
            except KafkaException as error:
                _log.warning(EventBusLogEvent.PRODUCER_BROKEN, error=str(error))
                is_broken = True
        overdue = len(outcomes) < expected and not is_broken
        if overdue or is_broken:
            self._discard(producer)
        return not overdue

    def _client(self, *, bulk: bool = False) -> Producer:
        if bulk not in self._producers:
            linger = _BULK_LINGER_MS if bulk else 0
            self._producers[bulk] = Producer({**self._settings, "linger.ms": linger}, logger=_client_log)
        return self._producers[bulk]

    def _absent_topics(self, producer: Producer, topics: set[str], deadline: float) -> set[str]:
        """Those that the broker does not have or not give. Asked here, an absent one costs no wait at the flush."""
        absent = set()
        for topic in topics - self._known_topics:
            try:
                left = max(0.1, min(_METADATA_SECONDS, deadline - time.monotonic()))
                found = producer.list_topics(topic, timeout=left).topics[topic]
            except KafkaException as error:
                raise SinkUnavailable(str(error)) from error
            if found.error is None:
                self._known_topics.add(topic)
            else:
                absent.add(topic)
        return absent

    def _discard(self, producer: Producer) -> None:
        """Drop what is queued and in flight, serve its reports, and let the producer go."""
        self._producers = {bulk: other for bulk, other in self._producers.items() if other is not producer}
        self._known_topics.clear()
        producer.purge(in_queue=True, in_flight=True, blocking=True)
        drained_by = time.monotonic() + 1.0
        while len(producer) and time.monotonic() < drained_by:
            with contextlib.suppress(KafkaException):
                producer.poll(0.05)
        _log.info(EventBusLogEvent.PRODUCER_REPLACED)
        # Taking a client down waits for its threads, which may wait for a broker that does not answer.
        threading.Thread(target=producer.close, name="kafka-producer-close", daemon=True).start()


def _note(outcomes: dict[int, KafkaError | None], position: int, error: KafkaError | None, _message: Message) -> None:
    outcomes[position] = error


def _judge(
    rows: Sequence[OutboxRow], outcomes: dict[int, KafkaError | None], absent: set[str], *, overdue: bool
) -> Delivered:
    acknowledged = frozenset(position for position, error in outcomes.items() if error is None)
    if len(acknowledged) == len(rows):
        return Delivered(acknowledged)
    errors = {position: error for position, error in outcomes.items() if error is not None}
    refused = {position: str(error) for position, error in errors.items() if error.code() in _REFUSALS}
    if refused:
        # What else failed did so because a batch of this producer failed: no outage, the next pass sends it.
        return Delivered(acknowledged, refused)
    troubled = [error for error in errors.values() if error.code() not in _TOPIC_TROUBLES]
    if not overdue and not troubled:
        away = absent | {row.destination for row in rows if row.position in errors}
        if away:
            raise SinkUnavailable(f"topics that the broker does not give: {sorted(away)}", acknowledged, away)
        return Delivered(acknowledged)
    through = {row.destination for row in rows if row.position in acknowledged}
    stuck = {row.destination for row in rows if row.position not in acknowledged}
    reason = str(troubled[0]) if troubled else f"no answer within {_DEADLINE_SECONDS} s"
    raise SinkUnavailable(reason, acknowledged, stuck if through and not (through & stuck) else ())
