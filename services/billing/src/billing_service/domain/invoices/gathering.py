"""Gathering what is told of an order: one row an order, whichever half or refund comes first.

Each half is set once, by one upsert, which creates the row or waits for its lock, and returns it as it stands then. So
of two halves at the same instant the second one sees the first, and exactly one of them completes the order. A refund
takes the same lock first, so it sees the invoice, or the one that issues the invoice sees the refund.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping, select
from sqlalchemy.dialects.postgresql import insert

from service_platform.database import Transaction

from .credit import Refund
from .models import GatheredOrder, InvoiceLine, PlacedHalf, SettledHalf
from .tables import credit_notes, gathered_orders, gathered_refunds


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

    async def keep_refund(self, order_id: UUID, refund: Refund, tx: Transaction) -> bool:
        """Keep a refund of the order; False when it had come before."""
        row = insert(gathered_orders).values(order_id=order_id)
        locked = row.on_conflict_do_update(
            index_elements=[gathered_orders.c.order_id], set_={"order_id": row.excluded.order_id}
        )
        await tx.session.execute(locked)
        kept = insert(gathered_refunds).values(order_id=order_id, **asdict(refund)).on_conflict_do_nothing()
        return (await tx.session.execute(kept.returning(gathered_refunds.c.refund_id))).one_or_none() is not None

    async def uncredited(self, order_id: UUID, tx: Transaction) -> Sequence[Refund]:
        """The refunds of the order that have no credit note, oldest first."""
        credited = select(credit_notes.c.id).where(credit_notes.c.refund_id == gathered_refunds.c.refund_id)
        query = (
            select(gathered_refunds)
            .where(gathered_refunds.c.order_id == order_id, ~credited.exists())
            .order_by(gathered_refunds.c.refunded_at, gathered_refunds.c.refund_id)
        )
        return [
            Refund(
                refund_id=row.refund_id,
                amount_minor=row.amount_minor,
                currency=row.currency,
                refunded_at=row.refunded_at,
            )
            for row in await tx.session.execute(query)
        ]

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
