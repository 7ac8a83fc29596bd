"""What waits in the outbox, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from .message import Channel

# Both read the queue, so their cost is the backlog's, however many messages were sent before.
_BACKLOG = text(
    """
    WITH counted AS (
        SELECT q.channel, q.destination, c.now,
               count(*) FILTER (WHERE q.error IS NULL AND q.not_before <= c.now) AS pending,
               count(*) FILTER (WHERE q.error IS NULL AND q.not_before > c.now) AS deferred,
               count(*) FILTER (WHERE q.error IS NOT NULL AND q.parked_at IS NULL) AS suspects,
               count(q.parked_at) AS parked,
               min(q.position) FILTER (
                   WHERE q.parked_at IS NULL AND (q.error IS NOT NULL OR q.not_before = '-infinity')
               ) AS oldest_position,
               min(q.not_before) FILTER (
                   WHERE q.error IS NULL AND q.not_before > '-infinity' AND q.not_before <= c.now
               ) AS oldest_deferral
        FROM (SELECT platform_now() AS now OFFSET 0) AS c CROSS JOIN outbox_queue q
        GROUP BY q.channel, q.destination, c.now
    )
    SELECT w.channel, w.destination, w.pending, w.deferred, w.suspects, w.parked,
           extract(epoch FROM w.now - least(o.created_at, w.oldest_deferral))::double precision AS oldest_due_seconds
    FROM counted w LEFT JOIN outbox o ON o.position = w.oldest_position
    ORDER BY w.channel, w.destination
    """
)
_BLOCKED = text(
    """
    SELECT o.channel, o.destination, o.consumer, o.key, head.position, o.created_at AS since,
           CASE WHEN head.parked_at IS NULL THEN 'suspect' ELSE 'parked' END AS state, head.error,
           (
               SELECT count(*) FROM outbox_queue w
               WHERE w.channel = head.channel AND w.shard = head.shard AND w.ordering_key = head.ordering_key
                 AND w.position > head.position AND w.error IS NULL
           ) AS waiting
    FROM (
        SELECT DISTINCT ON (q.channel, q.ordering_key) q.*
        FROM outbox_queue q
        WHERE q.error IS NOT NULL
        ORDER BY q.channel, q.ordering_key, q.position
    ) AS head
    JOIN outbox o ON o.position = head.position
    WHERE head.position > :after
    ORDER BY head.position
    LIMIT :rows
    """
)


class Backlog(BaseModel):
    """What one destination of a channel waits for. A destination for which nothing waits is not listed.

    `pending` may go now, `deferred` is not due yet, a suspect is tried alone, a parked row waits for a person.
    `oldest_due_seconds` is how long the oldest row that could go has been waiting: the figure to alert on. Null when
    there is none.
    """

    model_config = ConfigDict(frozen=True, from_attributes=True)

    channel: Annotated[Channel, Field(examples=["kafka"])]
    destination: Annotated[str, Field(examples=["events.order"])]
    pending: Annotated[int, Field(examples=[12])]
    deferred: Annotated[int, Field(examples=[0])]
    suspects: Annotated[int, Field(examples=[0])]
    parked: Annotated[int, Field(examples=[1])]
    oldest_due_seconds: Annotated[float | None, Field(examples=[0.25])]


class BlockedKey(BaseModel):
    """A key whose messages are held back by one that the broker refused, and how many of them wait."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    channel: Annotated[Channel, Field(examples=["kafka"])]
    destination: Annotated[str, Field(examples=["events.order"])]
    consumer: Annotated[str, Field(examples=[""])]
    key: Annotated[str, Field(examples=["0b9b8f0e-7d0c-4b53-9c1e-0f7f6d0b5a11"])]
    position: Annotated[int, Field(description="Of the message in the way", examples=[4711])]
    since: Annotated[datetime, Field(description="When that one was committed", examples=["2026-03-01T09:30:00Z"])]
    state: Annotated[Literal["suspect", "parked"], Field(examples=["parked"])]
    error: Annotated[str, Field(examples=["Broker: Message size too large"])]
    waiting: Annotated[int, Field(examples=[3])]


async def backlog(session: AsyncSession) -> Sequence[Backlog]:
    """What waits, by channel and destination."""
    return [Backlog.model_validate(row) for row in await session.execute(_BACKLOG)]


async def blocked_keys(session: AsyncSession, *, after: int = 0, limit: int = 100) -> Sequence[BlockedKey]:
    """The keys that a suspect or a parked row holds back, those in the way for longest first.

    `after` is the position of the last one of the page before.
    """
    rows = await session.execute(_BLOCKED, {"after": after, "rows": limit})
    return [BlockedKey.model_validate(row) for row in rows]
