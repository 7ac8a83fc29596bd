"""Results of actions for people: tables that fit a terminal, and nothing in them that could steer it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import BaseModel
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from service_platform.messages import Language
from service_platform.pagination import Page

from .bulk import BulkResult
from .messages import MESSAGES

_PIPE_WIDTH = 200  # what is piped on has no width of its own
_LONGEST_CELL = 200
_STYLES = {"done": "green", "refused": "yellow", "failed": "red", "not_tried": "dim"}


def show(result: BaseModel, columns: Sequence[str], language: Language) -> None:
    """Print `result` to standard output: a table for many, a list of its fields for one."""
    console = Console(highlight=False, markup=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    for part in _parts(result, columns, language):
        console.print(part)


def printable(text: str) -> str:
    """`text` without what a terminal would obey: an error's text or a payload is somebody else's."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def _parts(result: BaseModel, columns: Sequence[str], language: Language) -> Iterator[RenderableType]:
    match result:
        case Page(items=[]) | BulkResult(items=[]):
            yield MESSAGES.text("nothing", language)
        case Page():
            yield _table(_row(item, columns) for item in result.items)
            if result.next_cursor is not None:
                yield MESSAGES.text("next-page", language, cursor=result.next_cursor)
        case BulkResult():
            yield _table(_row(item.row, columns) | {"fate": item.fate, "reason": item.reason} for item in result.items)
            yield _outcome(result, language)
            if result.more:
                yield MESSAGES.text("more", language)
        case _:
            yield _fields(result)


def _outcome(result: BulkResult[Any], language: Language) -> str:
    count = len(result.items)
    if not result.applied:
        return MESSAGES.text("dry-run", language, count=count)
    return MESSAGES.text("applied", language, done=sum(item.fate == "done" for item in result.items), count=count)


def _row(row: BaseModel, columns: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in columns or type(row).model_fields}


def _table(rows: Iterable[dict[str, Any]]) -> Table:
    """One line a row, where the terminal is wide enough; of a long text its beginning."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        if not table.columns:
            for name in row:
                table.add_column(name.replace("_", " "), overflow="fold")
        table.add_row(*(Text(_short(value), style=_STYLES.get(str(value), "")) for value in row.values()))
    return table


def _fields(record: BaseModel) -> Table:
    """One line a field, whole."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name in type(record).model_fields:
        table.add_row(Text(name.replace("_", " ")), Text(_whole(getattr(record, name))))
    return table


def _short(value: Any) -> str:
    first, *more = _whole(value).split("\n")
    return first if not more and len(first) <= _LONGEST_CELL else f"{first[:_LONGEST_CELL]}…"


def _whole(value: Any) -> str:
    match value:
        case None:
            return ""
        case datetime():
            return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
        case BaseModel():
            return printable(value.model_dump_json())
        case dict() | list() | tuple():
            return printable(orjson.dumps(value, default=_jsonable).decode())
        case _:
            return printable(str(value))


def _jsonable(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
