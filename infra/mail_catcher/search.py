"""Mailpit's search filters, as far as we use them: `message-id:`, `to:`, `from:`, `subject:`, all of which must match.

https://mailpit.axllent.org/docs/usage/search-filters/
"""

import re

from mail_catcher.mailbox import Filter

_COLUMNS = {"message-id": "message_id", "to": "recipients", "from": "sender", "subject": "subject"}
_TERM = re.compile(r'(?:[^\s"]|"[^"]*")+')
_NOISE = re.compile(r"""[\r\n\t<>",;()]+""")


class SearchRefusedError(Exception):
    """The query is empty or uses a filter that this double does not know."""


def parse(query: str) -> list[Filter]:
    """The filters of a query such as `message-id:"abc@shop.example" to:ann@`; each is a part of the field.

    Raises:
        SearchRefusedError: Mailpit might answer this query; the double does not guess.
    """
    filters = []
    for term in _TERM.findall(query):
        name, colon, text = term.partition(":")
        column = _COLUMNS.get(name.lower())
        if not colon or column is None:
            raise SearchRefusedError(f"Error: this double does not search by {term!r}, only by {', '.join(_COLUMNS)}")
        wanted = text.replace('"', "") if column == "subject" else " ".join(_NOISE.sub(" ", text).split())
        if wanted:
            filters.append((column, wanted))
    if not filters:
        raise SearchRefusedError("Error: no search query")
    return filters
