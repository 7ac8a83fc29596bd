"""One pass of a relay: read, deliver, mark, in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter

import asyncpg

from service_platform.telemetry import get_logger

from .connection import DELIVERY_DEADLINE, transaction
from .functions import SHARDS_A_PASS
from .log_events import OutboxLogEvent
from .message import Channel, OutboxRow
from .sink import Delivered, Sink, SinkOverran, SinkUnavailable

BATCH_BYTES = 8 * 1024 * 1024
MAX_TRIES = 3
_FLUSHED_FROM = 100  # rows
_PAUSE_BETWEEN_TRIES = timedelta(seconds=1)
_OVERDUE_SECONDS = 1.0
_position = attrgetter("position")

_log = get_logger()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pass did: rows read, sent, and turned away by the broker. `more`: it may not have read all there was."""

    read: int
    sent: int
    refused: int = 0
    more: bool = False
    outage: SinkUnavailable | None = None


class RelayPass:
    """The passes of one relay over one channel, on one connection.

    Invariants:

    - Who holds a shard's lock is the only one to read, send and mark its rows; the lock ends with the transaction.
    - A row is marked only when the broker acknowledged it, and only up to the first row of its key that was not. So
      every sending of a key begins at its first unmarked row and goes up: however sendings of two relays mix (one
      was stopped, lost its shards, and its client goes on when it is resumed), the first arrivals are in order.
    - A crash before mark and COMMIT are on their way, as one message, leaves the rows pending: they are sent again.
    - A refusal in company proves nothing about a record, since one bad record fails the batch it travels in. It makes
      the row a suspect, which holds back its key; only a refusal alone counts as a try, and only `MAX_TRIES` park it.
    """

    def __init__(
        self, connection: asyncpg.Connection[asyncpg.Record], channel: Channel, sink: Sink, batch: int
    ) -> None:
        self._connection = connection
        self._channel = channel
        self._sink = sink
        self._batch = batch

    async def batch(self, resting: Collection[str]) -> Outcome:
        """Send what is due, but for the destinations that are resting."""
        async with transaction(self._connection) as at_commit:
            rows, more = await self._take(resting)
            if not rows:
                return Outcome(read=0, sent=0)
            delivered, outage = await self._deliver(rows)
            sent, refused = _up_to_first_failure(rows, delivered)
            if refused:
                await self._connection.execute(
                    "SELECT outbox_mark_suspect($1, $2)", list(refused), list(refused.values())
                )
            if sent:
                at_commit.extend(_marking(sent))
        for position, reason in refused.items():
            _log.warning(OutboxLogEvent.ROW_SUSPECTED, channel=self._channel, position=position, error=reason)
        return Outcome(read=len(rows), sent=len(sent), refused=len(refused), more=more, outage=outage)

    async def suspect(self, resting: Collection[str]) -> Outcome:
        """Send one suspect row by itself, if any is due, and count what becomes of it."""
        async with transaction(self._connection) as at_commit:
            rows = _rows(
                await self._connection.fetch("SELECT * FROM outbox_take_suspect($1, $2)", self._channel, list(resting))
            )
            if not rows:
                return Outcome(read=0, sent=0)
            (row,) = rows
            delivered, outage = await self._deliver(rows)
            if row.position in delivered.acknowledged:
                at_commit.extend(_marking([row.position]))
                return Outcome(read=1, sent=1)
            reason = delivered.refused.get(row.position)
            if reason is None:
                return Outcome(read=1, sent=0, outage=outage)
            parked = await self._connection.fetchval(
                "SELECT outbox_refuse($1, $2, $3, $4)", row.position, reason, MAX_TRIES, _PAUSE_BETWEEN_TRIES
            )
        event = OutboxLogEvent.ROW_PARKED if parked else OutboxLogEvent.ROW_REFUSED
        _log.error(
            event, channel=self._channel, position=row.position, destination=row.destination, key=row.key, error=reason
        )
        return Outcome(read=1, sent=0, refused=1)

    async def next_due(self) -> float | None:
        """Seconds until a row is due, 0 for now, None when none is waiting."""
        seconds: float | None = await self._connection.fetchval("SELECT outbox_next_due($1)", self._channel)
        return seconds

    async def _take(self, resting: Collection[str]) -> tuple[list[OutboxRow], bool]:
        """The head of the queue of each shard that is to be had, and whether that may not have been all of it."""
        taken = await self._connection.fetch(
            "SELECT * FROM outbox_take($1, $2, $3, $4)", self._channel, self._batch, BATCH_BYTES, list(resting)
        )
        if not taken:
            return [], False
        shards = taken[0]["shards"]
        rows = _rows(taken)
        more = (
            shards == SHARDS_A_PASS
            or len(rows) > self._batch // shards
            or sum(len(row.headers) + len(row.payload) for row in rows) >= BATCH_BYTES // shards
        )
        return rows, more

    async def _deliver(self, rows: Sequence[OutboxRow]) -> tuple[Delivered, SinkUnavailable | None]:
        try:
            async with asyncio.timeout(DELIVERY_DEADLINE + _OVERDUE_SECONDS):
                return await self._sink.deliver(rows), None
        except SinkUnavailable as outage:
            return Delivered(acknowledged=outage.acknowledged), outage
        except TimeoutError as error:
            raise SinkOverran(f"no answer from the {self._channel} sink, nor its own deadline kept") from error


def _rows(records: Sequence[asyncpg.Record]) -> list[OutboxRow]:
    """By position, which is the order of every key."""
    return sorted((OutboxRow._make(record[: len(OutboxRow._fields)]) for record in records), key=_position)


def _marking(positions: Sequence[int]) -> list[str]:
    """The statements that mark rows as sent."""
    mark = f"SELECT outbox_mark_sent('{{{','.join(map(str, positions))}}}')"
    if len(positions) < _FLUSHED_FROM:
        return [mark]
    # Until a commit is on disk, no reader may note that what it deleted is dead, and the passes of the next half
    # second would all walk over these index entries again. That costs more than waiting for the disk.
    return ["SET LOCAL synchronous_commit = on", mark]


def _up_to_first_failure(rows: Sequence[OutboxRow], delivered: Delivered) -> tuple[list[int], Mapping[int, str]]:
    """The positions to mark as sent, and the refusals that come first in their key."""
    acknowledged = delivered.acknowledged
    if len(acknowledged) == len(rows):
        return [row.position for row in rows], {}
    sent: list[int] = []
    refused: dict[int, str] = {}
    failed: set[int] = set()
    for row in rows:
        if row.ordering_key in failed:
            continue
        if row.position in acknowledged:
            sent.append(row.position)
            continue
        failed.add(row.ordering_key)
        if row.position in delivered.refused:
            refused[row.position] = delivered.refused[row.position]
    return sent, refused
