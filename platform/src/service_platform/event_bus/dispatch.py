"""From a Kafka record to the consumers of its event: skip, parse, handle, repeat."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NoReturn, cast

from confluent_kafka import Message
from pydantic import ValidationError

from service_platform.inbox import AlreadyHandled, InboxClaim
from service_platform.pacing import Backoff, wait_for_any
from service_platform.telemetry import correlation_scope, get_logger, restore, span

from .consumer import Consumer, Delivery
from .errors import ClaimNotAcquired, Unparsable
from .event import Event
from .headers import CORRELATION_ID, EVENT_NAME, Envelope
from .log_events import EventBusLogEvent
from .topics import topic_of
from .transient import is_transient

_log = get_logger()


class Abandoned(Exception):
    """The work was given up because its partition goes; nothing of it was recorded, so it comes again."""


class Dispatcher:
    """Gives each record to every consumer that wants its event, one after the other, until each has handled it.

    A consumer that throws is called again, with growing pauses, for as long as the partition is ours: the record is
    finished only when every consumer has finished with it. One that had succeeded is not disturbed by that: its inbox
    row makes a repetition a no-op, also after a crash in between.
    """

    def __init__(self, consumers: Sequence[Consumer[Any]]) -> None:
        names = [consumer.name for consumer in consumers]
        if doubles := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"consumers with one name would share an inbox, and one would miss events: {doubles}")
        self._wanted: dict[tuple[str, bytes], list[Consumer[Any]]] = defaultdict(list)
        for consumer in consumers:
            self._wanted[topic_of(consumer.event.source), consumer.event.event_name.encode()].append(consumer)

    @property
    def topics(self) -> list[str]:
        """What must be subscribed to."""
        return sorted({topic for topic, _ in self._wanted})

    def wants(self, message: Message) -> bool:
        """Whether anybody here consumes it: one look at a header, nothing is parsed.

        A record without a name is wanted by the error it is.
        """
        name = _raw_headers(message).get(EVENT_NAME)
        return name is None or (message.topic(), name) in self._wanted

    async def dispatch(self, message: Message, stopping: asyncio.Event) -> None:
        """Return when every consumer is done with `message`. Raises `Abandoned` when `stopping` is set before."""
        try:
            headers = _headers(message)
            envelope = Envelope.read(headers)
        except Unparsable as error:
            await _hold(message, error, stopping)
        for consumer in self._wanted.get((message.topic() or "", envelope.name.encode()), ()):
            try:
                event = _parse(message, envelope, consumer.event)
            except Unparsable as error:
                await _hold(message, error, stopping)
            with correlation_scope(headers.get(CORRELATION_ID)), restore(headers), span(f"consume {envelope.name}"):
                await _until_handled(consumer, event, envelope, stopping)


async def _until_handled(consumer: Consumer[Any], event: Event, envelope: Envelope, stopping: asyncio.Event) -> None:
    database, handler = Backoff(0.1, 5.0), Backoff(1.0, 60.0)
    about = {"consumer": consumer.name, "event_name": envelope.name, "event_id": str(envelope.event_id)}
    while True:
        try:
            await _handle(consumer, event, envelope)
        except AlreadyHandled:
            _log.info(EventBusLogEvent.EVENT_KNOWN, **about)
            return
        except Exception as error:  # noqa: BLE001 - recorded, and the event stays until it is handled
            if is_transient(error):
                pause = database.failed()
                _log.warning(EventBusLogEvent.DATABASE_TROUBLED, pause_seconds=pause, error=repr(error), **about)
            else:
                pause = handler.failed()
                _log.exception(EventBusLogEvent.HANDLER_FAILED, attempt=handler.failures, pause_seconds=pause, **about)
        else:
            _log.debug(EventBusLogEvent.EVENT_HANDLED, **about)
            return
        await wait_for_any(stopping, seconds=pause)
        if stopping.is_set():
            raise Abandoned


async def _handle(consumer: Consumer[Any], event: Event, envelope: Envelope) -> None:
    claim = InboxClaim(consumer.name, envelope.source, envelope.event_id)
    await consumer.handle(
        Delivery(event=event, claim=claim, event_id=envelope.event_id, key=event.key, occurred_at=envelope.occurred_at)
    )
    if not claim.was_acquired:
        raise ClaimNotAcquired(
            f"{consumer.name} returned without its claim: open the transaction with "
            "`transaction(claim=delivery.claim)`, or a redelivery takes effect twice"
        )


async def _hold(message: Message, error: Unparsable, stopping: asyncio.Event) -> NoReturn:
    """Keep the partition where it is and say so once a minute: passing on would lose the message."""
    while not stopping.is_set():
        _log.error(
            EventBusLogEvent.MESSAGE_UNPARSABLE,
            topic=message.topic(),
            partition=message.partition(),
            offset=message.offset(),
            error=str(error),
        )
        await wait_for_any(stopping, seconds=60)
    raise Abandoned


def _raw_headers(message: Message) -> dict[str, bytes | None]:
    return dict(cast("list[tuple[str, bytes | None]]", message.headers() or []))


def _headers(message: Message) -> dict[str, str]:
    try:
        return {name: value.decode() for name, value in _raw_headers(message).items() if value is not None}
    except UnicodeDecodeError as error:
        raise Unparsable(f"a header is not UTF-8: {error}") from error


def _parse(message: Message, envelope: Envelope, event: type[Event]) -> Event:
    if envelope.version < event.version:
        raise Unparsable(f"{envelope.name} has version {envelope.version}, {event.__name__} reads {event.version} up")
    try:
        return event.parse(message.value() or b"")
    except ValidationError as error:
        raise Unparsable(f"{envelope.name} {envelope.event_id} is no {event.__name__}: {error}") from error
