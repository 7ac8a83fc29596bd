"""The HTTP edge of a service: closed by default, bounded, idempotent, and problem+json for everything that fails."""

from .access import UndeclaredRoute, public, require
from .app import create_app
from .errors import CursorInvalid
from .health import ReadyCheck, database_answers
from .idempotency import idempotency
from .pagination import Page, PageRequest, PageWanted, Position, decode_cursor, encode_cursor
from .serve import run_api
from .tokens import Principal

__all__ = [
    "CursorInvalid",
    "Page",
    "PageRequest",
    "PageWanted",
    "Position",
    "Principal",
    "ReadyCheck",
    "UndeclaredRoute",
    "create_app",
    "database_answers",
    "decode_cursor",
    "encode_cursor",
    "idempotency",
    "public",
    "require",
    "run_api",
]
