"""Lists by page: a cursor says where one ends, whether the list goes out over HTTP or to a terminal."""

from .cursor import CursorInvalid, Position, decode_cursor, encode_cursor
from .page import DEFAULT_PAGE, LARGEST_PAGE, LONGEST_CURSOR, Page, PageRequest

__all__ = [
    "DEFAULT_PAGE",
    "LARGEST_PAGE",
    "LONGEST_CURSOR",
    "CursorInvalid",
    "Page",
    "PageRequest",
    "Position",
    "decode_cursor",
    "encode_cursor",
]
