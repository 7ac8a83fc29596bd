"""Parked messages: what the broker refused for good, and what an operator can do about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, ClassVar, Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction
from service_platform.errors import Conflict
from service_platform.messages import Catalogue
from service_platform.pagination import PageRequest

from .message import Channel

MESSAGES: Final = Catalogue(
    {
        "outbox-row-not-parked": {
            "en": "There is no parked message at this position",
            "vi": "Không có thông điệp nào bị giữ lại ở vị trí này",
        },
        "outbox-row-not-parked.detail": {
            "en": "Position {position} was released, discarded or sent meanwhile, or never was.",
            "vi": "Vị trí {position} đã được giải phóng, loại bỏ hoặc gửi đi, hoặc chưa từng tồn tại.",
        },
    }
)

_PARKED = text(
    """
    SELECT q.position, o.channel, o.destination, o.consumer, o.key, o.message_id, o.headers,
           octet_length(o.payload) AS payload_bytes, o.created_at, q.parked_at, q.tries, q.error
    FROM outbox_queue q JOIN outbox o ON o.position = q.position
    WHERE q.error IS NOT NULL AND q.parked_at IS NOT NULL
      AND (CAST(:at AS timestamptz) IS NULL OR (q.parked_at, o.message_id) < (:at, CAST(:id AS uuid)))
    ORDER BY q.parked_at DESC, o.message_id DESC
    LIMIT :rows
    """
)


class RowNotParked(Conflict, messages=MESSAGES):
    """Only a parked row can be released or discarded: any other is the relay's."""

    slug = "outbox-row-not-parked"
    example: ClassVar = {"position": 4711}


class ParkedRow(BaseModel):
    """A message that the broker refused, alone, as often as it is tried. Later ones of its key wait behind it."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    position: Annotated[int, Field(examples=[4711])]
    channel: Annotated[Channel, Field(examples=["kafka"])]
    destination: Annotated[str, Field(examples=["events.order"])]
    consumer: Annotated[str, Field(examples=[""])]
    key: Annotated[str, Field(examples=["0b9b8f0e-7d0c-4b53-9c1e-0f7f6d0b5a11"])]
    message_id: Annotated[UUID, Field(examples=["5c0f3e0a-2b1d-4e5f-8a9b-0c1d2e3f4a5b"])]
    headers: Annotated[dict[str, str], Field(examples=[{"event-name": "order.placed"}])]
    payload_bytes: Annotated[int, Field(examples=[1_048_000])]
    created_at: Annotated[datetime, Field(examples=["2026-03-01T09:30:00Z"])]
    parked_at: Annotated[datetime, Field(examples=["2026-03-01T09:30:03Z"])]
    tries: Annotated[int, Field(examples=[3])]
    error: Annotated[str, Field(examples=["Broker: Message size too large"])]


async def parked_rows(session: AsyncSession, page: PageRequest) -> Sequence[ParkedRow]:
    """Parked messages, those parked last first: up to `page.rows_to_read`, left at (`parked_at`, `message_id`)."""
    at, last = page.after or (None, None)
    rows = await session.execute(_PARKED, {"at": at, "id": last, "rows": page.rows_to_read})
    return [ParkedRow.model_validate(row) for row in rows]


async def release(tx: Transaction, position: int) -> None:
    """Have the parked message sent after all, with its tries starting again.

    It goes alone, and the later ones of its key after it, so their order is kept. Raises `RowNotParked`.
    """
    await _change(tx, "SELECT outbox_release(:position)", position)


async def discard(tx: Transaction, position: int, *, reason: str) -> None:
    """Have the parked message never sent, and let the later ones of its key flow.

    The message stays with `reason` until it is purged, counted from now. Raises `RowNotParked`.
    """
    await _change(tx, "SELECT outbox_discard(:position, :reason)", position, reason=reason)


async def _change(tx: Transaction, call: str, position: int, **more: str) -> None:
    if not (await tx.session.execute(text(call), {"position": position, **more})).scalar_one_or_none():
        raise RowNotParked(position=position)
