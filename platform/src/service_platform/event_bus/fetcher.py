"""The thread that owns the Kafka consumer: it polls for as long as the process lives, whatever a handler does."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import orjson
from confluent_kafka import Consumer as KafkaConsumer
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from service_platform.telemetry import get_logger

from .client_log import CLIENT_LOG
from .log_events import EventBusLogEvent

Place = tuple[str, int]  # topic, partition

_POLL_SECONDS = 0.1
_BATCH = 500
_COMMIT_EVERY = 1.0
_COMPLAIN_EVERY = 10.0
# A client that has been without its group's coordinator for so long is replaced.
_PATIENCE_SECONDS = 30.0

_SETTINGS: dict[str, Any] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "earliest",
    "partition.assignment.strategy": "cooperative-sticky",
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": 2_000,
    "allow.auto.create.topics": False,
    "topic.metadata.refresh.interval.ms": 10_000,  # how soon a topic that was not there is seen
    "queued.max.messages.kbytes": 16_384,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 1_000,
    "socket.keepalive.enable": True,
    "statistics.interval.ms": 2_000,  # where it says whether it has a coordinator
}

_log = get_logger()


class AssignedWork(Protocol):
    """What the fetcher reads of a partition's work: single values that another thread writes."""

    @property
    def position(self) -> int | None: ...
    @property
    def is_full(self) -> bool: ...
    @property
    def has_room(self) -> bool: ...
    def expect(self, messages: Sequence[Message]) -> None:
        """Count `messages` as in hand from now on: they are handed over next."""
        ...


class Work(Protocol):
    """What the fetcher hands over to. Called from the fetcher's thread; each returns when it is done."""

    def assign(self, place: Place) -> AssignedWork: ...
    def deliver(self, batches: dict[Place, list[Message]]) -> None: ...
    def finish(self, places: Sequence[Place], *, within_seconds: float) -> None:
        """Stop the work of `places` within the bound. Their positions are final then."""
        ...


class Fetcher:
    """Runs one group member on a thread of its own.

    - It polls without pause, so the group never takes a slow handler for a dead member. A partition with enough in
      hand is paused instead.
    - It commits what the work's positions say, which never pass an unfinished message: in the background once a
      second, and before a partition is given back.
    - Offsets start at the earliest: an unknown group, or one whose offsets are gone, reads all again and the inbox
      sorts out what it knows; starting at the latest would lose what came in between.
    - Partitions move one by one (cooperative), so a deployment stops only those that change hands.
    - A client that stays without its group's coordinator is replaced. It may have forgotten every broker, since one
      that has just started names none, and connects to nothing any more then, without an error (librdkafka 5301).
    """

    def __init__(
        self, *, brokers: Mapping[str, str], group: str, topics: Sequence[str], work: Work, stop_seconds: float
    ):
        self._topics = list(topics)
        self._work = work
        self._stop_seconds = stop_seconds
        self._assigned: dict[Place, AssignedWork] = {}
        self._paused: set[Place] = set()
        self._committed: dict[Place, int] = {}
        self._stop = threading.Event()
        self._joined = False
        self._polled_at: float | None = None
        self._coordinated_at = 0.0
        self._complained_at = -_COMPLAIN_EVERY
        self._settings = {
            **_SETTINGS,
            **brokers,
            "group.id": group,
            "client.id": group,
            "on_commit": self._on_commit,
            "error_cb": self._on_error,
            "stats_cb": self._on_statistics,
            "logger": CLIENT_LOG,
        }

    @property
    def ready(self) -> bool:
        """Whether it is a member of its group and polls. It may own no partition when there are more members."""
        return self._joined and self._polled_at is not None and time.monotonic() - self._polled_at < 15.0

    def stop(self) -> None:
        """Ask `run` to finish what is at hand, commit and leave the group."""
        self._stop.set()

    def run(self) -> None:
        """Fetch until `stop`. Raises KafkaException when the client cannot go on."""
        while not self._stop.is_set():
            self._run_client()

    def _run_client(self) -> None:
        """Fetch with one client, until `stop` or until it has lost its way to the group."""
        consumer = KafkaConsumer(self._settings)
        try:
            consumer.subscribe(
                self._topics, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
            )
            self._coordinated_at = time.monotonic()
            commit_at = time.monotonic() + _COMMIT_EVERY
            while not self._stop.is_set():
                self._fetch(consumer)
                self._polled_at = time.monotonic()
                self._keep_pace(consumer)
                if self._polled_at >= commit_at:
                    self._commit(consumer, list(self._assigned), wait=False)
                    commit_at = self._polled_at + _COMMIT_EVERY
                if self._polled_at - self._coordinated_at > _PATIENCE_SECONDS:
                    _log.warning(EventBusLogEvent.MEMBER_REPLACED, without_coordinator_seconds=_PATIENCE_SECONDS)
                    self._joined = False
                    self._lose(consumer, list(self._assigned))
                    return
            self._give_back(consumer, list(self._assigned))
        finally:
            self._assigned.clear()
            consumer.close()

    def _fetch(self, consumer: KafkaConsumer) -> None:
        """Hand over what is there. Waits for the first message only: `consume` would wait until its batch is full.

        The first one is handed over by itself before the next call, since that may run a rebalance, and a message
        still in our hands would then belong to nobody.
        """
        first = consumer.poll(_POLL_SECONDS)
        if first is not None:
            self._deliver([first])
            self._deliver(consumer.consume(_BATCH - 1, timeout=0))

    def _deliver(self, messages: Sequence[Message]) -> None:
        batches: dict[Place, list[Message]] = {}
        for message in messages:
            error = message.error()
            if error is not None:
                self._on_error(error)
                continue
            batches.setdefault((message.topic() or "", message.partition() or 0), []).append(message)
        for place, batch in batches.items():
            if (work := self._assigned.get(place)) is not None:
                work.expect(batch)
        if batches:
            self._work.deliver(batches)

    def _keep_pace(self, consumer: KafkaConsumer) -> None:
        full = [place for place, work in self._assigned.items() if place not in self._paused and work.is_full]
        roomy = [place for place in self._paused if self._assigned[place].has_room]
        if full:
            consumer.pause([TopicPartition(*place) for place in full])
            self._paused.update(full)
        if roomy:
            consumer.resume([TopicPartition(*place) for place in roomy])
            self._paused.difference_update(roomy)

    def _commit(self, consumer: KafkaConsumer, places: Sequence[Place], *, wait: bool) -> None:
        offsets = [
            TopicPartition(*place, position)
            for place in places
            if (position := self._assigned[place].position) is not None and position != self._committed.get(place)
        ]
        if not offsets:
            return
        try:
            if not wait:
                consumer.commit(offsets=offsets, asynchronous=True)
                return
            committed = consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            # Their next owner has these messages delivered again, and the inbox knows them.
            _log.warning(EventBusLogEvent.OFFSETS_NOT_COMMITTED, error=str(error), partitions=len(offsets))
        else:
            self._on_commit(None, committed)

    def _on_commit(self, error: KafkaError | None, offsets: Sequence[TopicPartition]) -> None:
        for offset in offsets:
            if error is None and offset.error is None:
                self._committed[offset.topic, offset.partition] = offset.offset
        failed = error or next((offset.error for offset in offsets if offset.error is not None), None)
        if failed is not None:
            _log.warning(EventBusLogEvent.OFFSETS_NOT_COMMITTED, error=str(failed), partitions=len(offsets))

    def _on_assign(self, _consumer: KafkaConsumer, partitions: Sequence[TopicPartition]) -> None:
        self._joined = True
        for place in _places(partitions):
            self._assigned[place] = self._work.assign(place)
        _log.info(EventBusLogEvent.PARTITIONS_ASSIGNED, partitions=_names(partitions))

    def _on_revoke(self, consumer: KafkaConsumer, partitions: Sequence[TopicPartition]) -> None:
        _log.info(EventBusLogEvent.PARTITIONS_REVOKED, partitions=_names(partitions))
        self._give_back(consumer, [place for place in _places(partitions) if place in self._assigned])

    def _on_lost(self, consumer: KafkaConsumer, partitions: Sequence[TopicPartition]) -> None:
        """Somebody else owns them already: stop, and commit nothing over the new owner's offsets."""
        _log.warning(EventBusLogEvent.PARTITIONS_LOST, partitions=_names(partitions))
        self._lose(consumer, [place for place in _places(partitions) if place in self._assigned])

    def _lose(self, consumer: KafkaConsumer, places: Sequence[Place]) -> None:
        self._work.finish(places, within_seconds=0)
        self._forget(consumer, places)

    def _give_back(self, consumer: KafkaConsumer, places: Sequence[Place]) -> None:
        if not places:
            return
        self._work.finish(places, within_seconds=self._stop_seconds)
        self._commit(consumer, places, wait=True)
        self._forget(consumer, places)

    def _forget(self, consumer: KafkaConsumer, places: Sequence[Place]) -> None:
        paused = [TopicPartition(*place) for place in places if place in self._paused]
        if paused:
            # The client remembers a pause beyond its assignment: a partition that comes back would stay silent.
            consumer.resume(paused)
        for place in places:
            del self._assigned[place]
            self._paused.discard(place)
            self._committed.pop(place, None)

    def _on_error(self, error: KafkaError) -> None:
        """Brokers that are away and topics that are not there yet are waited for; only a fatal error ends us."""
        if error.fatal():
            raise KafkaException(error)
        if time.monotonic() - self._complained_at > _COMPLAIN_EVERY:
            self._complained_at = time.monotonic()
            _log.warning(EventBusLogEvent.BROKER_TROUBLED, error=str(error))

    def _on_statistics(self, statistics: str) -> None:
        if orjson.loads(statistics)["cgrp"]["state"] == "up":
            self._coordinated_at = time.monotonic()


def _places(partitions: Sequence[TopicPartition]) -> list[Place]:
    return [(partition.topic, partition.partition) for partition in partitions]


def _names(partitions: Sequence[TopicPartition]) -> list[str]:
    return [f"{partition.topic}/{partition.partition}" for partition in partitions]
