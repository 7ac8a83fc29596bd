"""The correlation id: one for everything that one request set in motion, across services and days."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from uuid import uuid4

_current: ContextVar[str | None] = ContextVar("fencepost_correlation_id", default=None)
_ACCEPTABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


def new_correlation_id() -> str:
    """A fresh id, for work that nobody outside asked for."""
    return uuid4().hex


def correlation_id() -> str | None:
    """The id of the work at hand; None outside of any."""
    return _current.get()


@contextlib.contextmanager
def correlation_scope(proposed: str | None) -> Iterator[str]:
    """Work under `proposed` (from a header, an outbox row, a job), or under a new id when it is missing or unfit.

    Fit is 1 to 128 letters, digits and `._:-`: what is logged and sent on must not be able to forge a line or header.
    """
    chosen = proposed if proposed and _ACCEPTABLE.fullmatch(proposed) else new_correlation_id()
    token = _current.set(chosen)
    try:
        yield chosen
    finally:
        _current.reset(token)
