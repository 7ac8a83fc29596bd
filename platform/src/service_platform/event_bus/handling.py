"""One event and one consumer, until it is decided what becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import ValidationError

from service_platform.database import is_transient
from service_platform.inbox import (
    AlreadyHandled,
    DeliveryRefused,
    InboxClaim,
    IncomingEvent,
    KeyBlocked,
    RetryLedger,
)
from service_platform.pacing import Backoff, wait_for_any
from service_platform.telemetry import correlation_scope, get_logger, restore, span

from .consumer import Consumer, Delivery
from .errors import ClaimNotAcquired, HandlerCancelled, Unparsable
from .event import Event
from .headers import CORRELATION_ID, Envelope
from .log_events import EventBusLogEvent

T = TypeVar("T")

_log = get_logger()


class Abandoned(Exception):
    """The work was given up because its partition goes; nothing of it was recorded, so it comes again."""


class Handling:
    """The run of one consumer on one event.

    It ends when the effect is committed, or when the failure stands in the consumer's own database: in the retry
    ledger, or as a dead letter. A database in trouble is waited for and burns no attempt.
    """

    def __init__(
        self, consumer: Consumer[Any], event: IncomingEvent, envelope: Envelope, claim: InboxClaim, ledger: RetryLedger
    ) -> None:
        self._consumer = consumer
        self._event = event
        self._envelope = envelope
        self._claim = claim
        self._ledger = ledger
        self._about = {"consumer": consumer.name, "event_name": event.name, "event_id": str(event.event_id)}

    async def until_decided(self, stopping: asyncio.Event) -> None:
        """Raises `Abandoned` when `stopping` is set before."""
        headers = self._event.headers
        with (
            correlation_scope(headers.get(CORRELATION_ID)),
            restore(headers),
            span(f"consume {self._event.name}"),
        ):
            await persistently(self._decide, stopping, **self._about)

    async def _decide(self) -> None:
        while True:
            try:
                await self._run()
            except KeyBlocked:
                if await self._ledger.append_behind(self._event):
                    _log.info(EventBusLogEvent.EVENT_DEFERRED, **self._about)
                    return
                continue  # what blocked the key has left since
            except AlreadyHandled:
                await self._ledger.settle(self._claim)
                _log.info(EventBusLogEvent.EVENT_KNOWN, **self._about)
            except DeliveryRefused as refusal:
                _log.info(EventBusLogEvent.EVENT_KNOWN, reason=type(refusal).__name__, **self._about)
            except Exception as error:
                if is_transient(error):
                    raise
                await self._record(error)
            else:
                _log.debug(EventBusLogEvent.EVENT_HANDLED, **self._about)
            return

    async def _run(self) -> None:
        event = _parse(self._event.payload, self._envelope, self._consumer.event)
        delivery = Delivery(
            event=event,
            claim=self._claim,
            event_id=self._event.event_id,
            key=self._event.key,
            occurred_at=self._envelope.occurred_at,
        )
        try:
            await self._consumer.handle(delivery)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise HandlerCancelled(f"{self._consumer.name} was ended by a cancellation that was not its own") from error
        if not self._claim.took_effect:
            raise ClaimNotAcquired(
                f"{self._consumer.name} returned without a commit under its claim: open the transaction with "
                "`transaction(claim=delivery.claim)`, or a redelivery takes effect twice, and let its errors out, or "
                "the event is lost"
            )

    async def _record(self, error: Exception) -> None:
        # Neither gets better by itself: bytes stay what they are, and a handler without its claim may have taken
        # effect, so that each further attempt would do so again.
        is_hopeless = isinstance(error, (Unparsable, ClaimNotAcquired))
        recorded = await self._ledger.record_failure(
            self._event,
            error,
            attempts_allowed=0 if is_hopeless else self._consumer.event.attempts,
            hold=self._consumer.on_dead == "hold",
        )
        attempt = (self._event.attempts or 0) + 1
        if recorded == "buried":
            _log.error(EventBusLogEvent.EVENT_BURIED, attempt=attempt, exc_info=error, **self._about)
        else:
            _log.warning(
                EventBusLogEvent.HANDLER_FAILED, attempt=attempt, recorded=recorded, exc_info=error, **self._about
            )


async def persistently(step: Callable[[], Awaitable[T]], stopping: asyncio.Event, **about: object) -> T:
    """Run `step`, which changes the consumer's own database or nothing, until it gets through.

    Raises `Abandoned` when `stopping` is set before.
    """
    backoff = Backoff(0.1, 5.0)
    while True:
        try:
            return await step()
        except Exception as error:  # noqa: BLE001 - recorded, and the event stays until it is decided
            pause = backoff.failed()
            if is_transient(error):
                _log.warning(EventBusLogEvent.DATABASE_TROUBLED, pause_seconds=pause, error=repr(error), **about)
            else:
                _log.exception(EventBusLogEvent.FAILURE_NOT_RECORDED, pause_seconds=pause, **about)
        await wait_for_any(stopping, seconds=pause)
        if stopping.is_set():
            raise Abandoned


def _parse(payload: bytes, envelope: Envelope, event: type[Event]) -> Event:
    if envelope.version < event.version:
        raise Unparsable(f"{envelope.name} has version {envelope.version}, {event.__name__} reads {event.version} up")
    try:
        return event.parse(payload)
    except ValidationError as error:
        raise Unparsable(f"{envelope.name} {envelope.event_id} is no {event.__name__}: {error}") from error
