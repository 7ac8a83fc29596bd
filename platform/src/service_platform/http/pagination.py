"""Pages by cursor: no page number, no offset, nothing skipped or doubled while rows come in."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Generic, Self, TypeVar
from uuid import UUID

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict

from .errors import CursorInvalid

LARGEST_PAGE = 100
DEFAULT_PAGE = 20

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VERSION = b"\x01"
_TIME_BYTES = 8
_CURSOR_BYTES = len(_VERSION) + _TIME_BYTES + 16
_LATEST = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)

RowT = TypeVar("RowT")
ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where a list was left: the time and the id of its last row. Lists are ordered by (time, id), newest first."""

    at: datetime
    id: UUID


def encode_cursor(position: Position) -> str:
    """The opaque cursor of a position: to the microsecond, as PostgreSQL keeps it."""
    microseconds = (position.at - _EPOCH) // timedelta(microseconds=1)
    raw = _VERSION + microseconds.to_bytes(_TIME_BYTES, "big", signed=True) + position.id.bytes
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode_cursor(cursor: str) -> Position:
    """The position of a cursor. Raises CursorInvalid for anything that `encode_cursor` did not make.

    A cursor is not secret and not signed: it only says where to go on in a list that the caller may see anyway.
    """
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise CursorInvalid from error
    if len(raw) != _CURSOR_BYTES or not raw.startswith(_VERSION):
        raise CursorInvalid
    microseconds = int.from_bytes(raw[1 : 1 + _TIME_BYTES], "big", signed=True)
    if not 0 <= microseconds <= _LATEST:
        raise CursorInvalid
    position = Position(_EPOCH + timedelta(microseconds=microseconds), UUID(bytes=raw[1 + _TIME_BYTES :]))
    if encode_cursor(position) != cursor:  # unused bits of the last character: one position, one cursor
        raise CursorInvalid
    return position


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page a caller wants: `limit` rows after (older than) `after`, or the newest."""

    limit: int
    after: Position | None

    @property
    def rows_to_read(self) -> int:
        """One more than the page holds, which tells whether there is a next one."""
        return self.limit + 1


async def _page_request(
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="How many items at most")] = DEFAULT_PAGE,
    cursor: Annotated[str | None, Query(max_length=64, description="next_cursor of the page before")] = None,
) -> PageRequest:
    return PageRequest(limit, decode_cursor(cursor) if cursor is not None else None)


PageWanted = Annotated[PageRequest, Depends(_page_request)]
"""What a list route takes: `async def list_orders(page: PageWanted, …) -> Page[OrderSummary]`."""


class Page(BaseModel, Generic[ItemT]):
    """One page of a list. `next_cursor` is null on the last page."""

    model_config = ConfigDict(frozen=True)

    items: list[ItemT]
    next_cursor: str | None

    @classmethod
    def of(
        cls,
        rows: Sequence[RowT],
        wanted: PageRequest,
        *,
        item: Callable[[RowT], ItemT],
        position: Callable[[RowT], Position],
    ) -> Self:
        """The page made of up to `wanted.rows_to_read` rows, in the order of the list."""
        shown = rows[: wanted.limit]
        more = len(rows) > wanted.limit
        return cls(
            items=[item(row) for row in shown],
            next_cursor=encode_cursor(position(shown[-1])) if more else None,
        )
