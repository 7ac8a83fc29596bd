"""The hint that something was committed: it makes a relay quick, and nothing depends on it."""

from __future__ import annotations

import asyncio

import asyncpg

from service_platform.database import DATABASE_LOST, Database, Transaction
from service_platform.pacing import Backoff, wait_for_any
from service_platform.telemetry import get_logger

from .append import OutboxPart
from .connection import open_connection
from .log_events import OutboxLogEvent
from .message import Channel

_SPACING_SECONDS = 0.003

_log = get_logger()


def notification_channel(channel: Channel) -> str:
    """The name that a relay of `channel` listens on."""
    return f"outbox_{channel}"


class WakeUp:
    """Tells relays of this process's commits. Runs in every process that commits messages.

    NOTIFY goes out after COMMIT, on a connection of its own: a transaction that notifies takes a lock through its
    commit that the whole server shares, so in the business transaction it would make commits wait for each other.
    The first commit is announced at once, those that follow within 3 ms together. A hint that is lost costs a
    relay's polling interval.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._hint = asyncio.Event()
        self._channels: set[Channel] = set()
        database.after_commit(self._committed)

    def _committed(self, tx: Transaction) -> None:
        if tx.has_part(OutboxPart):
            self._channels |= tx.part(OutboxPart).channels()
            self._hint.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Send hints until `stop`; reconnects by itself."""
        backoff = Backoff(0.1, 2.0)
        while not stop.is_set():
            try:
                async with open_connection(self._database, "wake-up") as connection:
                    backoff.succeeded()
                    while not stop.is_set():
                        await self._announce(connection)
                        await wait_for_any(stop, seconds=_SPACING_SECONDS)
                        await wait_for_any(self._hint, stop, seconds=60)
            except DATABASE_LOST as error:
                _log.warning(OutboxLogEvent.WAKE_UP_LOST, error=repr(error))
                await wait_for_any(stop, seconds=backoff.failed())

    async def _announce(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        self._hint.clear()
        channels, self._channels = self._channels, set()
        try:
            for channel in channels:
                await connection.execute("SELECT pg_notify($1, '')", notification_channel(channel))
        except DATABASE_LOST:
            self._channels |= channels  # said again once there is a connection
            raise
