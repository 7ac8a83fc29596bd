"""One process of the suite: event loop, signals, heartbeat, a bounded stop, and a loud death."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable

from service_platform.settings import ServiceSettings
from service_platform.telemetry import Heartbeat, LogEvent, configure_logging, get_logger

from .work import Body

if sys.platform != "win32":
    from uvloop import new_event_loop
else:
    from asyncio import new_event_loop

_EXIT_FAILED = 1
_EXIT_NOT_STOPPED = 70
_CANCEL_SECONDS = 2.0
_ALLOCATIONS_A_COLLECTION = 50_000

_log = get_logger()


class ProcessLogEvent(LogEvent):
    STARTED = "process.started"
    STOPPING = "process.stopping"
    STOPPED = "process.stopped"
    FAILED = "process.failed"
    STOP_OVERDUE = "process.stop_overdue"


class EndedEarly(RuntimeError):
    """A body returned although nobody had asked it to stop."""


def run_process(
    kind: str,
    settings: ServiceSettings,
    body: Body,
    *,
    ready: Callable[[], bool] = lambda: True,
    stop_within_seconds: float = 25.0,
) -> None:
    """Run `body` as this process until SIGTERM or SIGINT, then exit.

    `kind` is the process kind (relay, consumer, …) for the logs. While the body is alive a heartbeat with `ready()`
    is written to `settings.health_file`, when that is set. Exits 0 after a requested stop; 1 when the body fails or
    ends by itself, so that a supervisor starts it again; 70 when the body has not ended `stop_within_seconds` after
    the signal, whatever it is doing.
    """
    configure_logging(settings.service_name, kind, level=settings.log_level, secrets=settings.secret_values())
    _spare_the_collector()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        code = runner.run(_supervise(settings, body, ready, stop_within_seconds))
    sys.exit(code)


def _spare_the_collector() -> None:
    """What start-up made stays as long as the process: no collection is to walk over it. And a batch in hand is many
    objects in no cycle: by default, every 700 of them cost a collection, a fifth of a relay's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS_A_COLLECTION, *gc.get_threshold()[1:])


async def run_together(stop: asyncio.Event, *bodies: Body) -> None:
    """Run several bodies as one: the first failure cancels the others and is raised, in an ExceptionGroup.

    A body that returns before `stop` is set counts as a failure.
    """
    async with asyncio.TaskGroup() as group:
        for body in bodies:
            group.create_task(_until_stopped(body, stop))


async def _until_stopped(body: Body, stop: asyncio.Event) -> None:
    await body(stop)
    if not stop.is_set():
        raise EndedEarly(f"{getattr(body, '__qualname__', body)} returned although nobody asked it to stop")


async def _supervise(settings: ServiceSettings, body: Body, ready: Callable[[], bool], bound: float) -> int:
    """The exit code of the process."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _ask_to_stop, number, stop, bound)
    bodies = [body]
    if settings.health_file is not None:
        bodies.append(Heartbeat(settings.health_file, ready).run)
    work = asyncio.ensure_future(run_together(stop, *bodies))
    asked = asyncio.ensure_future(stop.wait())
    _log.info(ProcessLogEvent.STARTED, pid=os.getpid())
    try:
        await asyncio.wait({work, asked}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({work}, timeout=bound)
        if not work.done():
            _log.error(ProcessLogEvent.STOP_OVERDUE, bound_seconds=bound)
            work.cancel()
            await asyncio.wait({work}, timeout=_CANCEL_SECONDS)
            return _EXIT_NOT_STOPPED
        await work
    except Exception:  # noqa: BLE001 - the process ends with it, and the log is where it is seen
        _log.exception(ProcessLogEvent.FAILED)
        return _EXIT_FAILED
    finally:
        asked.cancel()
    _log.info(ProcessLogEvent.STOPPED)
    return 0


def _ask_to_stop(number: int, stop: asyncio.Event, bound: float) -> None:
    _log.info(ProcessLogEvent.STOPPING, signal=signal.Signals(number).name)
    stop.set()
    # The bound must hold for a body that blocks the loop, too: a thread is the only one left to notice.
    overdue = threading.Timer(bound + 2 * _CANCEL_SECONDS, os._exit, (_EXIT_NOT_STOPPED,))
    overdue.daemon = True
    overdue.start()
