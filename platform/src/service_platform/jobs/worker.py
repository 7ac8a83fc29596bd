"""The worker process: Celery's consumer in front, children that run the jobs."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Any
from uuid import UUID

from celery import Celery, signals
from celery.exceptions import CPendingDeprecationWarning, SecurityWarning

from service_platform.database import Database
from service_platform.settings import ServiceSettings
from service_platform.telemetry import configure_logging, get_logger

from .broker import broker_of
from .celery_app import RUN_TASK, celery_app
from .child import ChildProcess, Processors
from .consuming import ConsumingProbe, install
from .drain import Drain
from .keeper import EXIT_HUNG, GRACE_SECONDS
from .kind import JobKind
from .log_events import JobsLogEvent

DRAIN_SECONDS = 12.0
"""How long running jobs may go on after SIGTERM until they are given back."""

_OVERDUE_SECONDS = 6.0
_EXIT_CHILD_BROKEN = 72

_log = get_logger()


def run_worker(settings: ServiceSettings, processors: Processors, *, drain_seconds: float = DRAIN_SECONDS) -> int:
    """Be a worker of `settings.service_name` until SIGTERM or SIGINT; the exit code of the process.

    `settings.worker_concurrency` children run one job each at a time. `processors` is entered once here, so that a
    mistake in the composition ends the start, and once in each child, after the fork. A service that has no jobs yet
    may build none: what arrives then waits for a worker that knows it.

    After the signal nothing more is taken from the queue. Running jobs have `drain_seconds`; what is not through then
    is cancelled and given back, and another worker takes it. A job that does not even hear that is given back by its
    lease keeper, and its child ends. The process is gone within `drain_seconds` + 11 s.

    Raises `DeadlineBeyondVisibility` for a job kind that the broker would deliver twice.
    """
    configure_logging(settings.service_name, "worker", level=settings.log_level, secrets=settings.secret_values())
    # We chose; Celery announces another default for its next version, at every connection. It warns root of pickle,
    # which we do not accept.
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning, module="celery")
    warnings.filterwarnings("ignore", category=SecurityWarning)
    for chatty in ("celery.app.trace", "celery.worker.strategy"):  # two lines a job that say less than ours
        logging.getLogger(chatty).setLevel(logging.WARNING)
    broker = broker_of(settings)
    kinds = asyncio.run(_kinds(settings, processors))
    broker.check(kinds)
    app = celery_app(broker)
    # The last resort, for a child that is frozen with its lease keeper: the parent kills it.
    longest = max((kind.deadline_seconds for kind in kinds), default=0.0)
    app.conf.task_time_limit = longest + 2 * GRACE_SECONDS
    probe = ConsumingProbe(broker.queue, settings.health_file)
    install(app, probe)
    drain = Drain()
    _serve_children(app, ChildProcess(settings, processors, drain))
    _drain_on_signal(drain, drain_seconds)
    worker = app.Worker(
        hostname=f"{settings.service_name}-worker-{os.getpid()}@{socket.gethostname()}",
        pool="prefork",
        concurrency=settings.worker_concurrency,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    _log.info(JobsLogEvent.WORKER_STARTED, queue=broker.queue, children=settings.worker_concurrency)
    try:
        worker.start()
    finally:
        probe.gone()
    return int(worker.exitcode or 0)


async def _kinds(settings: ServiceSettings, processors: Processors) -> Sequence[JobKind[Any]]:
    """The kinds that the service's processors are for."""
    database = Database(settings.database_address(), application_name="composition", pool_size=1)
    try:
        async with processors(database) as built:
            kinds = [processor.kind for processor in built]
    finally:
        await database.close()
    for kind in kinds:
        if kind.service != settings.service_name:
            raise ValueError(f"Job kind {kind.name} is not of service {settings.service_name}: its queue is another")
    return kinds


def _serve_children(app: Celery, child: ChildProcess) -> None:
    """Let each forked child make `child` its own, and run what arrives."""

    def run(kind: str, job_id: str) -> None:
        child.run(kind, UUID(job_id))

    app.task(name=RUN_TASK)(run)

    def begin(**_: object) -> None:
        try:
            child.start()
        except Exception:  # noqa: BLE001 - Celery would swallow it and keep a child that can do nothing
            _log.exception(JobsLogEvent.CHILD_BROKEN)
            os._exit(_EXIT_CHILD_BROKEN)

    def end(**_: object) -> None:
        child.stop()

    signals.worker_process_init.connect(begin, weak=False)
    signals.worker_process_shutdown.connect(end, weak=False)
    signals.setup_logging.connect(_keep_our_logging, weak=False)


def _keep_our_logging(**_: object) -> None:
    """Celery sets up logging by itself only when nobody listens to this signal."""


def _drain_on_signal(drain: Drain, drain_seconds: float) -> None:
    bound = drain_seconds + GRACE_SECONDS + _OVERDUE_SECONDS

    def begin(sig: str, **_: object) -> None:
        _log.info(JobsLogEvent.WORKER_DRAINING, signal=sig, seconds=drain_seconds)
        drain.begin(drain_seconds)
        signal.setitimer(signal.ITIMER_REAL, bound)

    def overdue(_signal: int, _frame: FrameType | None) -> None:
        _log.error(JobsLogEvent.WORKER_STOPPED_LATE, bound_seconds=bound)
        os._exit(EXIT_HUNG)

    signal.signal(signal.SIGALRM, overdue)
    signals.worker_shutting_down.connect(begin, weak=False)
