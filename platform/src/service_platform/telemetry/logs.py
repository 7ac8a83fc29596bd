"""JSON logs on standard output: our events and every library's lines through one pipeline."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Protocol, TextIO, cast

import orjson
import structlog
from structlog.typing import EventDict, WrappedLogger

from .correlation import correlation_id
from .tracing import trace_id

_SHORTEST_BLOTTED = 8  # a shorter value would blot out ordinary words
_SENSITIVE = ("password", "secret", "token", "authorization", "api_key", "card_number", "cvc")


class LogEvent(StrEnum):
    """The names of what can be logged. Each platform module and each service has a subclass with its own events.

    Names are dotted, lower case and past tense, `outbox.batch.sent`: one search finds the code, the log line and the
    dashboard.
    """


class Logger(Protocol):
    """Logs events by name; what varies goes in fields, never into the name."""

    def debug(self, event: LogEvent, **fields: object) -> None: ...
    def info(self, event: LogEvent, **fields: object) -> None: ...
    def warning(self, event: LogEvent, **fields: object) -> None: ...
    def error(self, event: LogEvent, **fields: object) -> None: ...
    def exception(self, event: LogEvent, **fields: object) -> None:
        """Like `error`, with the traceback of the exception being handled."""


def get_logger() -> Logger:
    """The logger of the process. Cheap; may be called at import, before `configure_logging`."""
    return cast("Logger", structlog.get_logger())


def configure_logging(
    service: str, process: str, *, level: str = "INFO", secrets: Sequence[str] = (), to: TextIO | None = None
) -> None:
    """Send structlog's events and the standard library's records to standard output, one JSON object a line.

    Each line has `at`, `level`, `event`, `service`, `process`, and within a piece of work `correlation_id` and
    `trace_id`. Values under sensitive names are blotted out, and so is every one of `secrets` wherever it stands in a
    line, tracebacks of libraries included. `to` is where the lines go when standard output is for something else.
    Safe to call again: the last call holds.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        _Identity(service, process),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.format_exc_info,
        _blot_sensitive,
    ]
    render = _Renderer([secret for secret in secrets if len(secret) >= _SHORTEST_BLOTTED])
    output = structlog.BytesLogger((to or sys.stdout).buffer)
    structlog.configure(
        processors=[*shared, render.as_bytes],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: output,  # one for all: it is asked for at every call, also of what is not logged
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(to or sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render.as_text],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "celery", "celery.task", "celery.redirected"):
        library = logging.getLogger(name)
        library.handlers, library.propagate = [], True
    # One line a request, with addresses in it; what our API answers is logged by the API itself.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("uvicorn.access").propagate = False  # uvicorn does not even write the line where nobody takes it


class _Identity:
    """Adds who speaks and on whose behalf."""

    def __init__(self, service: str, process: str) -> None:
        self._static = {"service": service, "process": process}

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event.update(self._static)
        if (correlation := correlation_id()) is not None:
            event.setdefault("correlation_id", correlation)
        if (trace := trace_id()) is not None:
            event["trace_id"] = trace
        return event


def _blot_sensitive(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for name in event:
        if _is_sensitive(name):
            event[name] = "[redacted]"
    return event


@functools.lru_cache(maxsize=1024)
def _is_sensitive(name: str) -> bool:
    return any(word in name.lower() for word in _SENSITIVE)


class _Renderer:
    """One line of JSON, without any of the secrets that this process holds."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._blots = [orjson.dumps(secret)[1:-1] for secret in secrets]

    def as_bytes(self, _logger: WrappedLogger, _method: str, event: EventDict) -> bytes:
        line = _dump(event)
        for blot in self._blots:
            if blot in line:
                line = line.replace(blot, b"[redacted]")
        return line

    def as_text(self, logger: WrappedLogger, method: str, event: EventDict) -> str:
        return self.as_bytes(logger, method, event).decode()


def _dump(event: EventDict) -> bytes:
    try:
        return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # a lone surrogate, an integer beyond 64 bits: the line must come out all the same
        return orjson.dumps({str(name): _printable(value) for name, value in event.items()})


def _printable(value: Any) -> str:
    return str(value).encode("utf-8", "backslashreplace").decode()
