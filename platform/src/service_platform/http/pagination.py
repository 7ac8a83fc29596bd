"""What a list route takes: which page its caller wants."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from service_platform.pagination import DEFAULT_PAGE, LARGEST_PAGE, LONGEST_CURSOR, PageRequest, decode_cursor


async def _page_request(
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="How many items at most")] = DEFAULT_PAGE,
    cursor: Annotated[
        str | None, Query(max_length=LONGEST_CURSOR, description="next_cursor of the page before")
    ] = None,
) -> PageRequest:
    return PageRequest(limit, decode_cursor(cursor) if cursor is not None else None)


PageWanted = Annotated[PageRequest, Depends(_page_request)]
"""What a list route takes: `async def list_orders(page: PageWanted, …) -> Page[OrderSummary]`."""
