"""What `GET /orders` can be narrowed down by."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Depends, Query
from pydantic import AwareDatetime, Field

from order_service.domain.orders import OrderFilter, OrderStatus

# What a database can compare with, whatever the offset; nothing was placed before, and nothing will be after.
_EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)

Moment = Annotated[AwareDatetime, Field(ge=_EARLIEST, lt=_LATEST)]


async def _order_filter(
    status: Annotated[
        list[OrderStatus] | None,
        Query(max_length=len(OrderStatus), description="Only orders in one of these states", examples=[["paid"]]),
    ] = None,
    placed_from: Annotated[
        Moment | None,
        Query(description="Only orders placed at this moment or later", examples=["2026-11-01T00:00:00Z"]),
    ] = None,
    placed_before: Annotated[
        Moment | None,
        Query(description="Only orders placed before this moment", examples=["2026-12-01T00:00:00+07:00"]),
    ] = None,
) -> OrderFilter:
    return OrderFilter(statuses=status, placed_from=placed_from, placed_before=placed_before)


OrdersWanted = Annotated[OrderFilter, Depends(_order_filter)]
"""What the route takes."""
