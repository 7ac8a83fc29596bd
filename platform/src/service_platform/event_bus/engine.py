"""The consumer process's engine: a thread that fetches, and an event loop that works off what it fetches."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from confluent_kafka import KafkaException, Message
from sqlalchemy import text

from service_platform.database import Database, is_transient
from service_platform.inbox import RetryLedger, RetryPolicy
from service_platform.pacing import Backoff, wait_for_any
from service_platform.telemetry import get_logger

from .consumer import Consumer
from .dispatch import Dispatcher
from .fetcher import Fetcher, Place
from .log_events import EventBusLogEvent
from .partition import Partition
from .retention import check_retentions, topic_retentions

_STOP_SECONDS = 10.0
_GRACE_SECONDS = 2.0

_log = get_logger()


class ConsumerEngine:
    """Runs the consumers of `service` as one member of its group. Any number of engines may share the group.

    Up to `concurrency` messages are in a handler at once: messages of one key in the order of the log, of different
    keys side by side. A message's offset is committed only after every consumer of its event has decided on it, and
    none before it is unfinished. A rebalance, a stop and a kill at any point lose nothing and at most have messages
    delivered again. A stop finishes the messages at hand within 10 s and hands back the rest.

    A consumer that throws has its event retried later, with the events of its key behind it, and buried after
    `event.attempts` failures. A database in trouble is waited for instead, and counts against no event.

    Crash points. Before the handler's COMMIT: nothing took effect, the message comes again. Between that COMMIT and
    the commit of the offset: it comes again, and the inbox makes it a no-op. The same holds for the transaction that
    records a failure.

    A broker that is not there yet, and a topic that is not, are waited for. `security` is what the client is told of
    TLS and credentials (`ServiceSettings.kafka_security`).
    """

    def __init__(
        self,
        database: Database,
        *,
        consumers: Sequence[Consumer[Any]],
        service: str,
        bootstrap_servers: str,
        security: Mapping[str, str] | None = None,
        concurrency: int = 10,
        retry: RetryPolicy | None = None,
        inbox_retention: timedelta = timedelta(days=30),
    ) -> None:
        self._database = database
        self._dispatcher = Dispatcher(consumers, RetryLedger(database, service, retry), service)
        self._group = service
        self._brokers = {**(security or {}), "bootstrap.servers": bootstrap_servers}
        self._concurrency = concurrency
        self._inbox_retention = inbox_retention
        self._member: _Member | None = None

    @property
    def ready(self) -> bool:
        """Whether it is a member of its group and polls."""
        return self._member is not None and self._member.fetcher.ready

    async def run(self, stop: asyncio.Event) -> None:
        """Consume until `stop`. Raises what ended the Kafka client, or an error of the engine itself, and
        `InboxForgetsTooSoon` at the start when a topic keeps its events for `inbox_retention` or longer.
        """
        await self._wait_for_database(stop)
        await self._check_retention(stop)
        if stop.is_set():
            return
        self._member = _Member(self._dispatcher, self._group, self._brokers, self._concurrency)
        try:
            await self._member.run(stop)
        finally:
            self._member = None

    async def _wait_for_database(self, stop: asyncio.Event) -> None:
        """Take no partition from a member that can work before we can."""
        backoff = Backoff(0.2, 5.0)
        while not stop.is_set():
            try:
                async with self._database.read() as session:
                    await session.execute(text("SELECT FROM inbox LIMIT 0"))
            except Exception as error:
                if not is_transient(error):
                    raise
                _log.warning(EventBusLogEvent.DATABASE_TROUBLED, error=repr(error))
                await wait_for_any(stop, seconds=backoff.failed())
            else:
                return

    async def _check_retention(self, stop: asyncio.Event) -> None:
        """Refuse to start where the inbox would forget what a topic still holds; wait for a broker that is away."""
        backoff = Backoff(0.2, 5.0)
        while not stop.is_set():
            try:
                retentions = await asyncio.to_thread(topic_retentions, self._brokers, self._dispatcher.topics)
            except KafkaException as error:
                _log.warning(EventBusLogEvent.BROKER_TROUBLED, error=str(error))
                await wait_for_any(stop, seconds=backoff.failed())
            else:
                check_retentions(retentions, self._inbox_retention)
                return


class _Member:
    """One membership: the fetcher on its thread, and the partitions on the event loop."""

    def __init__(self, dispatcher: Dispatcher, group: str, brokers: Mapping[str, str], concurrency: int) -> None:
        self._dispatcher = dispatcher
        self._slots = asyncio.Semaphore(concurrency)
        self._partitions: dict[Place, Partition] = {}
        self._loop = asyncio.get_running_loop()
        self._failure: asyncio.Future[None] = self._loop.create_future()
        self.fetcher = Fetcher(
            brokers=brokers,
            group=group,
            topics=dispatcher.topics,
            work=self,
            stop_seconds=_STOP_SECONDS,
        )

    async def run(self, stop: asyncio.Event) -> None:
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kafka-fetcher")
        fetching = asyncio.ensure_future(self._loop.run_in_executor(executor, self.fetcher.run))
        stopped = asyncio.ensure_future(stop.wait())
        try:
            waits: set[asyncio.Future[Any]] = {fetching, stopped, self._failure}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            self.fetcher.stop()
            await asyncio.wait({fetching})
            executor.shutdown(wait=False)
            # None are left after a stop. A client that broke down has given nothing back.
            await self._finish(list(self._partitions), within_seconds=0)
        fetching.result()
        if self._failure.done():
            self._failure.result()

    def assign(self, place: Place) -> Partition:
        """Called by the fetcher's thread."""
        return asyncio.run_coroutine_threadsafe(self._assign(place), self._loop).result()

    def deliver(self, batches: dict[Place, list[Message]]) -> None:
        """Called by the fetcher's thread; does not wait."""
        self._loop.call_soon_threadsafe(self._take, batches)

    def finish(self, places: Sequence[Place], *, within_seconds: float) -> None:
        """Called by the fetcher's thread.

        An event loop that is blocked by a handler cannot be waited for; what it has finished by now is all that will
        be committed. The work is stopped as soon as the loop is free again.
        """
        finishing = asyncio.run_coroutine_threadsafe(self._finish(places, within_seconds), self._loop)
        try:
            finishing.result(timeout=within_seconds + _GRACE_SECONDS)
        except TimeoutError:
            _log.error(EventBusLogEvent.WORK_ABANDONED, partitions=[f"{topic}/{number}" for topic, number in places])

    async def _assign(self, place: Place) -> Partition:
        partition = self._partitions[place] = Partition(*place, self._dispatcher, self._slots, self._fail)
        return partition

    def _take(self, batches: dict[Place, list[Message]]) -> None:
        try:
            for place, messages in batches.items():
                if (partition := self._partitions.get(place)) is not None:
                    partition.add(messages)
        except Exception as error:  # noqa: BLE001 - raised by `run`: to go on would pass over what was not taken
            self._fail(error)

    async def _finish(self, places: Sequence[Place], within_seconds: float) -> None:
        going = [partition for place in places if (partition := self._partitions.pop(place, None)) is not None]
        await asyncio.gather(*(partition.stop(within_seconds) for partition in going))

    def _fail(self, error: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_exception(error)
