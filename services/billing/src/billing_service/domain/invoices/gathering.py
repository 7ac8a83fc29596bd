"""Gathering the halves of an order: one row an order, whichever half comes first.

Each half is set once, by one upsert, which creates the row or waits for its lock, and returns it as it stands then. So
of two halves at the same instant the second one sees the first, and exactly one of them completes the order.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping
from sqlalchemy.dialects.postgresql import insert

from service_platform.database import Transaction

from .models import GatheredOrder, InvoiceLine, PlacedHalf, SettledHalf
from .tables import gathered_orders


class GatheredOrderTable:
    """Keeps halves. `tx` holds the order's row lock afterwards."""

    async def keep_placed(self, order_id: UUID, placed: PlacedHalf, tx: Transaction) -> GatheredOrder | None:
        """Set the order's half, and return what has come so far; None when it had come before."""
        return await self._keep(
            order_id,
            {
                "customer_id": placed.customer_id,
                "customer_email": placed.customer_email,
                "language": placed.language,
                "currency": placed.currency,
                "lines": [asdict(line) for line in placed.lines],
            },
            gathered_orders.c.customer_id.is_(None),
            tx,
        )

    async def keep_settled(self, order_id: UUID, settled: SettledHalf, tx: Transaction) -> GatheredOrder | None:
        """Set the payment's half, and return what has come so far; None when it had come before."""
        return await self._keep(order_id, asdict(settled), gathered_orders.c.payment_id.is_(None), tx)

    async def _keep(
        self, order_id: UUID, half: dict[str, Any], is_missing: ColumnElement[bool], tx: Transaction
    ) -> GatheredOrder | None:
        statement = (
            insert(gathered_orders)
            .values(order_id=order_id, **half)
            .on_conflict_do_update(index_elements=[gathered_orders.c.order_id], set_=half, where=is_missing)
            .returning(gathered_orders)
        )
        row = (await tx.session.execute(statement)).mappings().one_or_none()
        return _gathered(row) if row is not None else None


def _gathered(row: RowMapping) -> GatheredOrder:
    placed = settled = None
    if row["customer_id"] is not None:
        placed = PlacedHalf(
            customer_id=row["customer_id"],
            customer_email=row["customer_email"],
            language=row["language"],
            currency=row["currency"],
            lines=[InvoiceLine(**line) for line in row["lines"]],
        )
    if row["payment_id"] is not None:
        settled = SettledHalf(
            payment_id=row["payment_id"],
            paid_minor=row["paid_minor"],
            paid_currency=row["paid_currency"],
            settled_at=row["settled_at"],
        )
    return GatheredOrder(order_id=row["order_id"], placed=placed, settled=settled)
