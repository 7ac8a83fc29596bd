"""The relay's far end in Kafka: a batch, one wait, and only what the broker acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import orjson
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from service_platform.outbox import Delivered, OutboxRow, SinkUnavailable
from service_platform.telemetry import get_logger

from .client_log import CLIENT_LOG
from .log_events import EventBusLogEvent

# A whole call stays below outbox.connection.DELIVERY_DEADLINE: this, and a second at most to drain a producer.
_DEADLINE_SECONDS = 3.5
_METADATA_SECONDS = 2.0
# After so many probes without an answer the next one is another client's.
_PROBES_A_CLIENT = 5

# A client that lingers sends few large requests, one that does not sends at once. A backlog wants the one and a
# single event the other, so there is a client for each. Both are empty between two calls, so order is not at stake.
_BULK_ROWS = 50
# About as long as it takes to hand the client a full batch. Left earlier, it goes out in pieces, and each request costs
# the broker more than its records do.
_BULK_LINGER_MS = 10

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

# A report of a success that the broker did not tell: the client concludes it from that of a later batch.
_PRESUMED = KafkaError(KafkaError._INCONSISTENT, "acknowledged by the client alone, without an offset of the broker")

# A broker forgets a producer that has not written to a partition for a day (producer.id.expiration.ms).
_REMEMBERED_SECONDS = 3600.0

_Outcomes = dict[int, KafkaError | None]  # by position; None is an acknowledgement
_Note = Callable[[_Outcomes, int, KafkaError | None, Message], None]

_log = get_logger()


class _Written(NamedTuple):
    """The partitions of a topic that one producer has written to since `since`, by the monotonic clock."""

    since: float
    partitions: set[int]


class KafkaSink:
    """Delivers to Kafka, in order.

    A resend never overtakes: the producer is idempotent (the broker refuses a batch that arrives ahead of its
    predecessor) and gapless (a batch that fails for good ends the producer, and with it everything queued behind),
    and no record expires in the client. At the deadline, and after such an end, what is queued is purged and the
    producer replaced, so nothing of an earlier call is waiting when the next one begins. What the broker may still
    find on the old connection began at the same first row or before, and goes up in order.

    The broker knows a batch's predecessor only where it has written something of this producer, and lately: else it
    takes the second batch of a partition although it has refused the first. Until every partition of a topic has been
    written to, one row of each key goes ahead, and the rest once these are acknowledged. And the client takes an
    acknowledgement for that of every earlier batch of the partition, the refused one too, which then is nowhere: so
    only a report with an offset is one (docs/adr/0024).

    A client that the broker does not answer is replaced, too. It may have forgotten every broker, since one that has
    just started names none, and connects to nothing any more then (librdkafka 5301).

    `security` is what the client is told of TLS and credentials (`ServiceSettings.kafka_security`).
    """

    def __init__(
        self, bootstrap_servers: str, *, client_id: str = "relay", security: Mapping[str, str] | None = None
    ) -> None:
        self._settings: dict[str, str | int | float | bool] = {
            **(security or {}),
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
        self._partitions: dict[str, int] = {}  # of each topic that the broker gives
        self._written: dict[tuple[bool, str], _Written] = {}  # by producer and topic
        self._unanswered_probes = 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kafka-sink")
        # A client may have its producer id half a second after it was made (librdkafka asks again that much later when
        # no broker was connected yet). Made when first needed, it would wait for it with rows in hand.
        for bulk in (False, True):
            self._client(bulk=bulk)

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
        producer = self._client()
        try:
            producer.list_topics(timeout=_METADATA_SECONDS)
        except KafkaException as error:
            self._unanswered_probes += 1
            if self._unanswered_probes % _PROBES_A_CLIENT == 0:
                self._discard(producer)
            raise SinkUnavailable(str(error)) from error
        self._unanswered_probes = 0

    def _deliver(self, rows: Sequence[OutboxRow]) -> Delivered:
        deadline = time.monotonic() + _DEADLINE_SECONDS
        bulk = len(rows) >= _BULK_ROWS
        producer = self._client(bulk=bulk)
        absent = self._absent_topics(producer, {row.destination for row in rows}, deadline)
        outcomes: _Outcomes = {}
        tried, overdue = 0, False
        for wave, note in self._waves(bulk, [row for row in rows if row.destination not in absent] if absent else rows):
            tried += _produce(producer, wave, outcomes, note)
            overdue = not self._await_reports(producer, outcomes, tried, deadline)
            if len(outcomes) < tried or any(outcomes.values()):
                break
        return _judge(rows, outcomes, absent, overdue=overdue)

    def _waves(self, bulk: bool, rows: Sequence[OutboxRow]) -> Iterator[tuple[Sequence[OutboxRow], _Note]]:
        """What to send without waiting in between, and who is to be told of each report."""
        written_to = {topic: self._written_to(bulk, topic) for topic in {row.destination for row in rows}}
        new = {topic for topic, partitions in written_to.items() if len(partitions) < self._partitions[topic]}
        if not new:
            yield rows, _note
            return
        first: dict[int, OutboxRow] = {}
        for row in rows:
            if row.destination in new:
                first.setdefault(row.ordering_key, row)

        def written(outcomes: _Outcomes, at: int, error: KafkaError | None, message: Message) -> None:
            _note(outcomes, at, error, message)
            if outcomes[at] is None:
                written_to[str(message.topic())].add(int(message.partition() or 0))

        yield list(first.values()), written
        ahead = {row.position for row in first.values()}
        yield [row for row in rows if row.position not in ahead], _note

    def _written_to(self, bulk: bool, topic: str) -> set[int]:
        """The partitions of `topic` that know the producer; begun anew before the broker may have forgotten it."""
        written, now = self._written.get((bulk, topic)), time.monotonic()
        if written is None or now > written.since + _REMEMBERED_SECONDS:
            written = self._written[bulk, topic] = _Written(now, set())
        return written.partitions

    def _await_reports(self, producer: Producer, outcomes: _Outcomes, expected: int, deadline: float) -> bool:
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
            self._producers[bulk] = Producer({**self._settings, "linger.ms": linger}, logger=CLIENT_LOG)
        return self._producers[bulk]

    def _absent_topics(self, producer: Producer, topics: set[str], deadline: float) -> set[str]:
        """Those that the broker does not have or not give. Asked here, an absent one costs no wait at the flush."""
        absent = set()
        for topic in topics - self._partitions.keys():
            try:
                left = max(0.1, min(_METADATA_SECONDS, deadline - time.monotonic()))
                found = producer.list_topics(topic, timeout=left).topics[topic]
            except KafkaException as error:
                self._discard(producer)
                raise SinkUnavailable(str(error)) from error
            if found.error is None:
                self._partitions[topic] = len(found.partitions)
            else:
                absent.add(topic)
        return absent

    def _discard(self, producer: Producer) -> None:
        """Drop what is queued and in flight, serve its reports, and let the producer go."""
        self._producers = {bulk: other for bulk, other in self._producers.items() if other is not producer}
        self._written = {(bulk, topic): to for (bulk, topic), to in self._written.items() if bulk in self._producers}
        self._partitions.clear()
        producer.purge(in_queue=True, in_flight=True, blocking=True)
        drained_by = time.monotonic() + 1.0
        while len(producer) and time.monotonic() < drained_by:
            with contextlib.suppress(KafkaException):
                producer.poll(0.05)
        _log.info(EventBusLogEvent.PRODUCER_REPLACED)
        # Taking a client down waits for its threads, which may wait for a broker that does not answer.
        threading.Thread(target=producer.close, name="kafka-producer-close", daemon=True).start()


def _produce(producer: Producer, rows: Sequence[OutboxRow], outcomes: _Outcomes, note: _Note) -> int:
    """Hand the rows to the client; how many of them will have an outcome."""
    failed_keys: set[int] = set()
    tried = 0
    for row in rows:
        if failed_keys and row.ordering_key in failed_keys:
            continue
        try:
            producer.produce(
                row.destination,
                value=row.payload,
                key=row.key,
                headers=orjson.loads(row.headers),
                on_delivery=partial(note, outcomes, row.position),
            )
        except KafkaException as error:
            outcomes[row.position] = error.args[0]
            failed_keys.add(row.ordering_key)
        except BufferError:
            break  # the client's queue is full; the rest stays pending for the next pass
        tried += 1
    return tried


def _note(outcomes: _Outcomes, position: int, error: KafkaError | None, message: Message) -> None:
    outcomes[position] = error if error is not None or message.offset() is not None else _PRESUMED


def _judge(rows: Sequence[OutboxRow], outcomes: _Outcomes, absent: set[str], *, overdue: bool) -> Delivered:
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
