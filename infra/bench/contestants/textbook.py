"""The relay that most tutorials show: rows locked and skipped, one flush and one update a row."""

from __future__ import annotations

from typing import ClassVar

from .polled_table import PolledTable


class Textbook(PolledTable):
    """See `programs/textbook.py`."""

    name: ClassVar[str] = "textbook"
    relay: ClassVar[str] = "textbook"
    rounds: ClassVar[int] = 1
    most_rows: ClassVar[int] = 2_000
    more_relays: ClassVar[tuple[int, ...]] = (2,)
