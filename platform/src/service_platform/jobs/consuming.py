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
_DEAF_AFTER_SECONDS = 8.0
_STOP_AFTER_SECONDS = 30.0
_EXIT_DEAF = 1

_log = get_logger()


class ConsumingProbe:
    """Beats on the worker's own event loop, once a second, and looks at what the worker should be taking.

    A worker is deaf when for 8 s messages lay in its queue, it had room for one, and it took none: then it is not
    ready. After 30 s it stops, with a failure, so that its supervisor starts a new one. While the broker is away the
    loop does not run and the heartbeat grows stale.
    """

    def __init__(self, queue: str, health_file: Path | None) -> None:
        self._queue = queue
        self._file = health_file
        self._taken = 0
        self._hearing_at = time.monotonic()
        self._complained = False

    def beat(self, consumer: Any) -> None:
        """Look once, and write the heartbeat."""
        now = time.monotonic()
        taken = state.all_total_count[0]
        if taken != self._taken or not self._is_missing_work(consumer):
            self._taken, self._hearing_at, self._complained = taken, now, False
        deaf_for = now - self._hearing_at
        if deaf_for > _DEAF_AFTER_SECONDS and not self._complained:
            self._complained = True
            _log.error(JobsLogEvent.WORKER_NOT_CONSUMING, queue=self._queue, seconds=round(deaf_for))
        if deaf_for > _STOP_AFTER_SECONDS:
            state.should_stop = _EXIT_DEAF
        if self._file is not None:
            write_heartbeat(self._file, ready=deaf_for <= _DEAF_AFTER_SECONDS)

    def gone(self) -> None:
        """Take the heartbeat away."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _is_missing_work(self, consumer: Any) -> bool:
        if len(state.reserved_requests) >= consumer.pool.num_processes:
            return False
        try:
            waiting: int = consumer.connection.default_channel.queue_declare(self._queue).message_count
        except (OSError, KombuError, RedisError):
            return True
        return waiting > 0


def install(app: Celery, probe: ConsumingProbe) -> None:
    """Let `probe` beat whenever a worker of `app` consumes."""

    class Pulse(bootsteps.StartStopStep):  # type: ignore[misc] # celery has no types
        requires = ("celery.worker.consumer.tasks:Tasks",)

        def start(self, consumer: Any) -> None:
            self._timer = consumer.timer.call_repeatedly(_BEAT_SECONDS, probe.beat, (consumer,))

        def stop(self, consumer: Any) -> None:
            self._timer.cancel()

    app.steps["consumer"].add(Pulse)
