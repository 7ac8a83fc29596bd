"""Search over payment intents: another, later view than retrieve and list have."""

import json
import re
import sqlite3
from typing import Any

from provider_double.errors import ParameterError
from provider_double.listing import page_limit
from provider_double.parameters import text

PARAMETERS = frozenset({"query", "limit", "page"})

_CLAUSE = re.compile(
    r"""\s*(?:metadata\[["'](?P<key>[^"']+)["']\]|(?P<field>status|currency))\s*:\s*(?P<value>"[^"]*"|'[^']*')\s*"""
)


def search(connection: sqlite3.Connection, params: dict[str, Any], as_of: float) -> dict[str, Any]:
    """A `search_result` of each intent as it was at `as_of`: younger intents are missing, younger states are not seen.

    The query is one or more of `metadata['name']:'value'`, `status:'…'`, `currency:'…'`, joined by AND.

    Raises:
        ParameterError: a query outside that part of the language, an unknown page, a limit outside 1 to 100.
    """
    conditions, values = _conditions(text(params, "query") or "")
    limit = page_limit(params)
    before = text(params, "page")
    if before is not None and not (before.isdecimal() and len(before) < 18):
        raise ParameterError(f"Invalid page: {before}", param="page")
    rows = connection.execute(
        "select intents.seq as seq, version.doc as doc from intents join intent_versions version on version.seq ="
        " (select max(seq) from intent_versions where intent = intents.id and at <= ?)"
        f" where {' and '.join(['intents.seq < ?', *conditions])} order by intents.seq desc limit ?",
        (as_of, int(before) if before else 2**62, *values, limit + 1),
    ).fetchall()
    shown = rows[:limit]
    has_more = len(rows) > limit
    return {
        "object": "search_result",
        "url": "/v1/payment_intents/search",
        "has_more": has_more,
        "next_page": str(shown[-1]["seq"]) if has_more else None,
        "data": [json.loads(row["doc"]) for row in shown],
    }


def _conditions(query: str) -> tuple[list[str], list[str]]:
    conditions = []
    values = []
    for clause in re.split(r"\s+AND\s+", query):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            raise ParameterError(
                f"We were unable to parse your search query: {clause!r}. This double knows metadata['name']:'value',"
                " status:'value' and currency:'value', joined by AND.",
                param="query",
            )
        path = f'$.metadata."{match["key"]}"' if match["key"] else f"$.{match['field']}"
        conditions.append("json_extract(version.doc, ?) = ?")
        values += [path, match["value"][1:-1]]
    return conditions, values
