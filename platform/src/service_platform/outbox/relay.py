"""The relay: the one loop between the outbox and a broker, for events and for jobs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace

from service_platform.database import DATABASE_LOST, Database
from service_platform.pacing import Backoff, passed_on, wait_for_any
from service_platform.telemetry import get_logger

from .connection import open_connection
from .log_events import OutboxLogEvent
from .message import Channel
from .relay_pass import Outcome, RelayPass
from .sink import Sink, SinkUnavailable
from .wake_up import notification_channel

_SUSPECTS_EVERY = 1.0
_SUSPECTS_A_ROUND = 50
_HEALTHY_SECONDS = 15.0
_COMPLAIN_EVERY = 30.0
_ASSISTANT_STAYS = 5.0  # seconds without a backlog, before it gives its connection up

_log = get_logger()


class Relay:
    """Delivers one channel of a service's outbox, at least once, in order per key. Any number may run side by side.

    Runs one pass after the other while there is work. Otherwise it waits for a hint (`WakeUp`), for the next deferred
    row to come due, or for `poll_seconds`, whichever is first; one statement then asks whether anything is due. The
    poll is the guarantee, hints only save time.

    An outage of the broker parks nothing and counts against no row. Between its attempts no transaction is open, and
    the pauses grow to 2 s. When only some destinations are away the others go on.

    With a `second_sink`, `assist` runs passes beside those of `run` while there is a backlog.
    """

    def __init__(
        self,
        database: Database,
        *,
        channel: Channel,
        sink: Sink,
        second_sink: Sink | None = None,
        batch: int = 2000,
        poll_seconds: float = 1.2,
    ) -> None:
        self._database = database
        self._channel: Channel = channel
        self._sink = sink
        self._second_sink = second_sink
        self._batch = batch
        self._poll_seconds = poll_seconds
        self._hint = asyncio.Event()
        self._backlog = asyncio.Event()
        self._resting: dict[str, _Rest] = {}
        self._outage = Backoff(0.1, 2.0)
        self._suspects_at = 0.0
        self._complained_at = -_COMPLAIN_EVERY
        self._has_probed = False
        self._worked_at: float | None = None

    @property
    def ready(self) -> bool:
        """Whether the loop got through to its database lately. A broker's outage is not this process's illness."""
        return self._worked_at is not None and time.monotonic() - self._worked_at < _HEALTHY_SECONDS

    async def run(self, stop: asyncio.Event) -> None:
        """Relay until `stop`; a pass under way is finished first. Reconnects to the database by itself."""
        async with passed_on(stop, to=self._hint):
            await self._run(stop)

    async def _run(self, stop: asyncio.Event) -> None:
        database = Backoff(0.1, 2.0)
        while not stop.is_set():
            try:
                async with open_connection(self._database, f"relay {self._channel}") as connection:
                    await connection.add_listener(notification_channel(self._channel), self._hinted)
                    _log.info(OutboxLogEvent.RELAY_CONNECTED, channel=self._channel)
                    database.succeeded()
                    passes = RelayPass(connection, self._channel, self._sink, self._batch)
                    while not stop.is_set():
                        self._hint.clear()
                        again = await self._work(passes, stop)
                        self._worked_at = time.monotonic()
                        if not again:
                            await self._idle(passes, stop)
            except DATABASE_LOST as error:
                _log.warning(OutboxLogEvent.DATABASE_LOST, channel=self._channel, error=repr(error))
                await wait_for_any(stop, seconds=database.failed())

    async def assist(self, stop: asyncio.Event) -> None:
        """Relay beside `run` while it has more than one pass of work, until `stop`.

        One then reads and marks while the batch of the other is on its way through the broker. To the rows it is one
        more relay, with a connection and a sink of its own; refused rows, outages and waiting stay with `run`.
        """
        assert self._second_sink is not None
        while not stop.is_set():
            await wait_for_any(self._backlog, stop, seconds=3600)
            if not self._backlog.is_set():
                continue
            try:
                async with open_connection(self._database, f"relay {self._channel} 2") as connection:
                    await self._assist(RelayPass(connection, self._channel, self._second_sink, self._batch), stop)
            except DATABASE_LOST as error:
                _log.warning(OutboxLogEvent.DATABASE_LOST, channel=self._channel, error=repr(error))
                self._backlog.clear()  # until `run` has got through again

    async def _assist(self, passes: RelayPass, stop: asyncio.Event) -> None:
        while not stop.is_set() and self._backlog.is_set():
            outcome = await passes.batch(self._resting_now())
            if outcome.outage is not None or not (outcome.sent and outcome.more):
                self._backlog.clear()
                await wait_for_any(self._backlog, stop, seconds=_ASSISTANT_STAYS)

    def _hinted(self, *_: object) -> None:
        self._hint.set()

    async def _work(self, passes: RelayPass, stop: asyncio.Event) -> bool:
        """Run what is due; whether to look again at once."""
        try:
            if not self._has_probed and await passes.next_due() != 0:
                return False
            if not self._has_probed or self._outage.failures:
                await self._sink.probe()
                self._has_probed = True
            outcome = await self._run_passes(passes)
        except SinkUnavailable as outage:
            await self._rest(outage, stop)
            return True
        if outcome.outage is not None:
            await self._rest(outcome.outage, stop)
            return True
        if self._outage.failures:
            _log.info(OutboxLogEvent.SINK_RECOVERED, channel=self._channel)
            self._outage.succeeded()
        # A pass that read all there was has left nothing: what was committed meanwhile sends its own hint. One that got
        # nothing done would get nothing done at once, either.
        return outcome.refused > 0 or (outcome.sent > 0 and outcome.more)

    async def _run_passes(self, passes: RelayPass) -> Outcome:
        """One batch; and when it is their turn, the suspects one by one."""
        now = time.monotonic()
        resting = self._resting_now()
        outcome = await passes.batch(resting)
        if outcome.sent and outcome.more:
            self._backlog.set()
        if outcome.sent:
            _log.debug(OutboxLogEvent.BATCH_SENT, channel=self._channel, rows=outcome.sent)
        if outcome.outage is not None or not (outcome.refused or now > self._suspects_at):
            return outcome
        for _ in range(_SUSPECTS_A_ROUND):
            suspect = await passes.suspect(resting)
            if suspect.outage is not None:
                return replace(outcome, outage=suspect.outage)
            if not suspect.read:
                self._suspects_at = now + _SUSPECTS_EVERY
                break
        return outcome

    def _resting_now(self) -> list[str]:
        now = time.monotonic()
        return [destination for destination, rest in self._resting.items() if rest.until > now]

    async def _rest(self, outage: SinkUnavailable, stop: asyncio.Event) -> None:
        """Leave what is away alone for a while: the whole broker, or some destinations while the others go on."""
        now = time.monotonic()
        if now > self._complained_at + _COMPLAIN_EVERY:
            self._complained_at = now
            _log.warning(
                OutboxLogEvent.SINK_UNAVAILABLE,
                channel=self._channel,
                destinations=sorted(outage.destinations) or "all",
                error=outage.reason,
            )
        for destination in outage.destinations:
            rest = self._resting.setdefault(destination, _Rest(Backoff(0.5, 2.0)))
            rest.until = now + rest.backoff.failed()
        if not outage.destinations:
            await wait_for_any(stop, seconds=self._outage.failed())

    async def _idle(self, passes: RelayPass, stop: asyncio.Event) -> None:
        """Wait until something may be due."""
        seconds = self._poll_seconds
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._hint.wait()
                return
            due_in = await passes.next_due()
            self._worked_at = time.monotonic()
            if due_in == 0:
                return
            seconds = self._poll_seconds if due_in is None else min(due_in, self._poll_seconds)


class _Rest:
    """A destination's pause, and how long the next one would be."""

    def __init__(self, backoff: Backoff) -> None:
        self.backoff = backoff
        self.until = 0.0
