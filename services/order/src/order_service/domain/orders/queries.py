"""What can be read about orders. Queries write nothing and publish nothing."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from service_platform.database import Database

from .errors import OrderNotFound
from .models import OrderFilter
from .reading import find, newest
from .views import OrderView

ANY_ORDER: Final = OrderFilter()


class OrderQueries:
    """Reads orders: one customer's, or with `customer_id` None everybody's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, order_id: UUID, *, customer_id: str | None) -> OrderView:
        """One order. Raises `OrderNotFound`, also for an order of somebody else."""
        async with self._database.read() as session:
            order = await find(order_id, session)
        if order is None or customer_id not in {None, order.customer_id}:
            raise OrderNotFound(order_id=str(order_id))
        return OrderView.of(order)

    async def newest(
        self,
        *,
        customer_id: str | None,
        before: tuple[datetime, UUID] | None,
        limit: int,
        wanted: OrderFilter = ANY_ORDER,
    ) -> list[OrderView]:
        """Up to `limit` orders that are `wanted`, newest first, from before the position (placed at, id).

        Whoever walks on from the last position of each page meets every order once that stood there when the walk
        began, and one that is placed meanwhile at most once.
        """
        async with self._database.read() as session:
            orders = await newest(wanted, customer_id=customer_id, before=before, limit=limit, session=session)
        return [OrderView.of(order) for order in orders]
