"""What this process logs during a test. pytest shows it of a test that failed; it must cost the others little."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog


def log_plainly() -> None:
    """Lines for people with Python's own tracebacks, whatever was configured before.

    structlog's default draws a traceback with colours and the values of variables: 25 ms of processor for each.
    """
    structlog.reset_defaults()
    *processors, _ = structlog.get_config()["processors"]
    renderer = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*processors, renderer])


@contextmanager
def silent_logs() -> Iterator[None]:
    """Nothing but what is critical is logged: for tests that disturb their work thousands of times."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    try:
        yield
    finally:
        log_plainly()
