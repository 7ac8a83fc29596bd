"""Cursors: no page number, no offset, nothing skipped or doubled while rows come in."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, Self
from uuid import UUID

from service_platform.errors import Invalid
from service_platform.messages import Catalogue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VERSION = b"\x01"
_TIME_BYTES = 8
_CURSOR_BYTES = len(_VERSION) + _TIME_BYTES + 16
_LARGEST_NUMBER = 2**63 - 1
_LATEST = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)

MESSAGES: Final = Catalogue(
    {
        "cursor-invalid": {
            "en": "The cursor is not valid",
            "vi": "Con trỏ trang không hợp lệ",
        },
        "cursor-invalid.detail": {
            "en": "Use next_cursor of the page before, unchanged.",
            "vi": "Hãy dùng nguyên vẹn next_cursor của trang trước.",
        },
    }
)


class CursorInvalid(Invalid, messages=MESSAGES):
    slug = "cursor-invalid"


class Position(NamedTuple):
    """Where a list was left: the time and the id of its last row. Lists are ordered by (time, id), newest first."""

    at: datetime
    id: UUID

    @classmethod
    def numbered(cls, at: datetime, number: int) -> Self:
        """Of a list in the order of a number that the database gave: it stands in the place of the id."""
        return cls(at, UUID(int=number))

    @property
    def number(self) -> int:
        """The number of a `numbered` position, and of any other one a number that a bigint column can hold."""
        return min(self.id.int, _LARGEST_NUMBER)


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
