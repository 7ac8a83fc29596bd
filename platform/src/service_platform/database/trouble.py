"""Telling the database's trouble from the caller's."""

from __future__ import annotations

import asyncpg
from sqlalchemy.exc import DBAPIError

from .pool import DRIVER_FAILED, PoolExhausted

DATABASE_LOST = (OSError, TimeoutError, asyncpg.PostgresError, *DRIVER_FAILED, DBAPIError, PoolExhausted)
"""What a lost, restarting or overloaded database looks like to a loop that runs no statements of others."""

_CLASSES = (
    "08",  # connection
    "53",  # out of resources: connections, memory, disk
    "57P",  # shutting down, starting up
)
_STATES = (
    "40001",  # serialization failure
    "40P01",  # deadlock
    "55P03",  # a lock was not had in time
    "25P03",  # idle too long in a transaction: this process was stopped
    "25P04",  # transaction_timeout
)


def is_transient(error: BaseException) -> bool:
    """Whether a repetition may succeed with nothing changed but the database's state: it says nothing of the event."""
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or _state_is_transient(error.orig)
    if isinstance(error, asyncpg.PostgresError):
        return _state_is_transient(error)
    return isinstance(error, (ConnectionError, PoolExhausted, *DRIVER_FAILED))


def _state_is_transient(error: BaseException | None) -> bool:
    state = getattr(error, "sqlstate", None)
    if state is None:
        return isinstance(error.__cause__ if error else None, (OSError, *DRIVER_FAILED))
    return state in _STATES or state.startswith(_CLASSES)
