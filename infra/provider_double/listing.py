"""Cursor pagination over one table of documents, newest first, as all lists of the API have it."""

import json
import sqlite3
from typing import Any, Literal

from provider_double.errors import ParameterError
from provider_double.parameters import integer, text

PARAMETERS = frozenset({"limit", "starting_after", "ending_before", "created"})

_COMPARISONS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def page(
    connection: sqlite3.Connection,
    table: Literal["intents", "refunds"],
    url: str,
    params: dict[str, Any],
    intent: str | None = None,
) -> dict[str, Any]:
    """A `list` object; refunds can be narrowed to one intent.

    Raises:
        ParameterError: a limit outside 1 to 100, an unknown cursor, or a `created` that is no number or range.
    """
    limit = page_limit(params)
    conditions, values = _created(params.get("created"))
    if intent is not None:
        conditions.append("intent = ?")
        values.append(intent)
    backwards = "ending_before" in params
    for name, comparison in (("starting_after", "<"), ("ending_before", ">")):
        cursor = text(params, name)
        if cursor is not None:
            conditions.append(f"seq {comparison} ?")
            values.append(_seq(connection, table, cursor, name))
    rows = connection.execute(
        f"select doc from {table} where {' and '.join(['true', *conditions])}"
        f" order by seq {'asc' if backwards else 'desc'} limit ?",
        (*values, limit + 1),
    ).fetchall()
    has_more = len(rows) > limit
    data = [json.loads(row["doc"]) for row in rows[:limit]]
    if backwards:
        data.reverse()
    return {"object": "list", "url": url, "has_more": has_more, "data": data}


def page_limit(params: dict[str, Any]) -> int:
    limit = integer(params.get("limit", "10"), "limit")
    if not 1 <= limit <= 100:
        raise ParameterError("limit must be between 1 and 100.", code="parameter_invalid_integer", param="limit")
    return limit


def _seq(connection: sqlite3.Connection, table: str, identifier: str, param: str) -> int:
    row = connection.execute(f"select seq from {table} where id = ?", (identifier,)).fetchone()
    if row is None:
        raise ParameterError(f"No such object: '{identifier}'", code="resource_missing", param=param)
    return int(row["seq"])


def _created(given: Any) -> tuple[list[str], list[Any]]:
    """Objects carry whole seconds, so `created` is compared with whole seconds."""
    if given is None:
        return [], []
    bounds = given if isinstance(given, dict) else {"equal": given}
    conditions = []
    values = []
    for name, value in bounds.items():
        comparison = "=" if name == "equal" else _COMPARISONS.get(name)
        if comparison is None:
            raise ParameterError(f"Invalid created: {name}", param="created")
        conditions.append(f"cast(created as integer) {comparison} ?")
        values.append(integer(value, "created"))
    return conditions, values
