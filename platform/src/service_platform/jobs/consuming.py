"""Whether a worker consumes: a worker can be alive, connected, and deaf to its queue."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from celery import Celery, bootsteps
from celery.worker import state
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from service_platform.telemetry import get_logger, write_heartbeat

from .log_events import JobsLogEvent

_BEAT_SECONDS = 1.0
_RECONNECT_AFTER_SECONDS = 5.0
_STOP_AFTER_SECONDS = 30.0
_EXIT_DEAF = 1

_log = get_logger()


class ConsumingProbe:
    """Beats on the worker's own event loop, once a second, and looks at what the worker should be taking.

    A worker is deaf when messages lie in its queue, it has room for one, and it takes none. That happens: an
    acknowledgement that fails while the broker is away leaves Celery's client counting a message for ever, and with
    as many of them as it may take at once it never asks again. After 5 s the probe has it connect anew, which
    forgets that count; until it takes something again it is not ready. After 30 s it stops, with a failure, so that
    its supervisor starts a new one.

    The look at the queue also finds a lost connection while every child is busy and nothing else uses it. While the
    worker tries to connect again its loop does not run, and the heartbeat grows stale.
    """

    def __init__(self, queue: str, health_file: Path | None) -> None:
        self._queue = queue
        self._file = health_file
        self._taken = 0
        self._hearing_at = self._connected_at = time.monotonic()

    def connected(self) -> None:
        """The worker has a new connection, and asks for messages on it."""
        self._connected_at = time.monotonic()

    def beat(self, consumer: Any) -> None:
        """Look once, and write the heartbeat.

        Raises what the broker's client raises, or ConnectionResetError: either has the worker connect anew.
        """
        try:
            waiting = consumer.connection.default_channel.queue_declare(self._queue).message_count
        except (OSError, KombuError, RedisError):
            self._write(ready=False)
            raise
        now = time.monotonic()
        has_room = len(state.reserved_requests) < consumer.pool.num_processes
        if state.all_total_count[0] != self._taken or not (waiting and has_room):
            self._taken, self._hearing_at = state.all_total_count[0], now
        deaf_for = now - self._hearing_at
        self._write(ready=deaf_for < _RECONNECT_AFTER_SECONDS)
        if deaf_for >= _STOP_AFTER_SECONDS:
            state.should_stop = _EXIT_DEAF
        elif min(deaf_for, now - self._connected_at) >= _RECONNECT_AFTER_SECONDS:
            _log.error(JobsLogEvent.WORKER_NOT_CONSUMING, queue=self._queue, seconds=round(deaf_for), waiting=waiting)
            raise ConnectionResetError(f"{waiting} messages lie in {self._queue} and this worker takes none")

    def gone(self) -> None:
        """Take the heartbeat away."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _write(self, *, ready: bool) -> None:
        if self._file is not None:
            write_heartbeat(self._file, ready=ready)


def install(app: Celery, probe: ConsumingProbe) -> None:
    """Let `probe` beat whenever a worker of `app` consumes."""

    class Pulse(bootsteps.StartStopStep):  # type: ignore[misc] # celery has no types
        requires = ("celery.worker.consumer.tasks:Tasks",)
        _timer: Any = None  # without a broker at the start, Celery stops what it has not started

        def start(self, consumer: Any) -> None:
            probe.connected()
            self._timer = consumer.timer.call_repeatedly(_BEAT_SECONDS, probe.beat, (consumer,))

        def stop(self, consumer: Any) -> None:
            if self._timer is not None:
                self._timer.cancel()

    app.steps["consumer"].add(Pulse)
