"""One page of a list, and the wish for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from .cursor import Position, encode_cursor

LARGEST_PAGE = 100
DEFAULT_PAGE = 20
LONGEST_CURSOR = 64

RowT = TypeVar("RowT")
ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page a caller wants: `limit` rows after (older than) `after`, or the newest."""

    limit: int
    after: Position | None

    @property
    def rows_to_read(self) -> int:
        """One more than the page holds, which tells whether there is a next one."""
        return self.limit + 1


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
