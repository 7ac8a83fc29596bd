"""From a Kafka record to the consumers of its event."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Message

from service_platform.inbox import InboxClaim, IncomingEvent, RetryClaim, RetryLedger, WakeUp, retry_topic_of
from service_platform.outbox import MAX_KEY_BYTES
from service_platform.telemetry import get_logger

from .consumer import Consumer
from .errors import Unparsable
from .handling import Handling, persistently
from .headers import EVENT_NAME, EVENT_SOURCE, Envelope
from .log_events import EventBusLogEvent
from .records import origin, raw_headers, record_key, text_headers
from .topics import topic_of

_log = get_logger()


class Dispatcher:
    """Gives each record to every consumer that wants its event, one after the other, until each has decided on it.

    A consumer has decided when its effect is committed, or when its retry ledger or a dead letter has the event. One
    that had decided before a crash is not disturbed by the repetition: it finds that out in its first statement.
    """

    def __init__(self, consumers: Sequence[Consumer[Any]], ledger: RetryLedger, service: str) -> None:
        self._by_name = {consumer.name: consumer for consumer in consumers}
        if len(self._by_name) < len(consumers):
            names = [consumer.name for consumer in consumers]
            doubles = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"consumers with one name would share an inbox, and one would miss events: {doubles}")
        self._wanted: dict[tuple[str, bytes], list[Consumer[Any]]] = defaultdict(list)
        for consumer in consumers:
            self._wanted[topic_of(consumer.event.source), consumer.event.event_name.encode()].append(consumer)
        self._ledger = ledger
        self._service = service
        self._retry_topic = retry_topic_of(service)

    @property
    def topics(self) -> list[str]:
        """What must be subscribed to."""
        return sorted({topic for topic, _ in self._wanted} | {self._retry_topic})

    def wants(self, message: Message) -> bool:
        """Whether anybody here consumes it: one look at a header, nothing is parsed.

        A record without a name is wanted by the error it is.
        """
        if message.topic() == self._retry_topic:
            return True
        name = raw_headers(message).get(EVENT_NAME)
        return name is None or (message.topic(), name) in self._wanted

    async def dispatch(self, message: Message, stopping: asyncio.Event) -> None:
        """Return when every consumer has decided on `message`. Raises `Abandoned` when `stopping` is set before."""
        if message.topic() == self._retry_topic:
            await self._wake(message, stopping)
        else:
            await self._deliver(message, stopping)

    async def _deliver(self, message: Message, stopping: asyncio.Event) -> None:
        headers, key, payload = text_headers(message), record_key(message), message.value() or b""
        try:
            envelope = Envelope.read(headers)
            _check_place(envelope, key, message)
        except Unparsable as error:
            await self._bury_nameless(message, error, stopping)
            return
        for consumer in self._wanted.get((message.topic() or "", envelope.name.encode()), ()):
            event = IncomingEvent(
                consumer=consumer.name,
                source=envelope.source,
                key=key,
                event_id=envelope.event_id,
                name=envelope.name,
                headers=headers,
                payload=payload,
                origin=origin(message),
            )
            claim = InboxClaim(event.consumer, event.source, event.key, event.event_id)
            await Handling(consumer, event, envelope, claim, self._ledger).until_decided(stopping)

    async def _wake(self, message: Message, stopping: asyncio.Event) -> None:
        """Run the event that a wake-up names, if the ledger has it in this attempt."""
        try:
            wake_up = WakeUp.read(record_key(message), text_headers(message))
        except ValueError as error:
            await self._bury_nameless(message, error, stopping)
            return
        consumer = self._by_name.get(wake_up.consumer)
        if consumer is None:
            # A process of another version: the ledger's overdue sweep wakes it again until somebody knows it.
            _log.warning(EventBusLogEvent.CONSUMER_UNKNOWN, consumer=wake_up.consumer, event_id=str(wake_up.event_id))
            return
        event = await persistently(lambda: self._ledger.entry(wake_up), stopping, consumer=consumer.name)
        if event is not None:
            claim = RetryClaim(wake_up, self._service)
            handling = Handling(consumer, event, Envelope.read(event.headers), claim, self._ledger)
            await handling.until_decided(stopping)

    async def _bury_nameless(self, message: Message, error: Exception, stopping: asyncio.Event) -> None:
        place = origin(message)
        await persistently(
            lambda: self._ledger.bury_nameless(
                key=record_key(message),
                headers=text_headers(message),
                payload=message.value() or b"",
                origin=place,
                error=error,
            ),
            stopping,
            origin=place,
        )
        _log.error(EventBusLogEvent.MESSAGE_BURIED, origin=place, error=str(error))


def _check_place(envelope: Envelope, key: str, message: Message) -> None:
    """Refuse what no publisher of ours sends: the inbox would take it for another event, or could not hold it."""
    if topic_of(envelope.source) != message.topic():
        raise Unparsable(f"the header {EVENT_SOURCE} says {envelope.source!r:.80}, the topic is {message.topic()}")
    if len(key.encode()) > MAX_KEY_BYTES:
        raise Unparsable(f"its key has more than {MAX_KEY_BYTES} bytes")
