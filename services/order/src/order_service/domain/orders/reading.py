"""Reading orders with all their parts, unlocked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy import RowMapping, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from .models import Order, OrderFilter, OrderLine, TimelineEntry, TimelineEvent
from .tables import order_lines, order_timeline, orders


async def find(order_id: UUID, session: AsyncSession) -> Order | None:
    """The order as `session` sees it, unlocked, with its lines and timeline."""
    found = await _with_parts(
        (await session.execute(select(orders).where(orders.c.id == order_id))).mappings(), session
    )
    return found[0] if found else None


async def newest(
    wanted: OrderFilter,
    *,
    customer_id: str | None,
    before: tuple[datetime, UUID] | None,
    limit: int,
    session: AsyncSession,
) -> list[Order]:
    """Up to `limit` orders, newest first, from before the position (placed at, id); of one customer or of all."""
    statement = select(orders).order_by(orders.c.placed_at.desc(), orders.c.id.desc()).limit(limit)
    if customer_id is not None:
        statement = statement.where(orders.c.customer_id == customer_id)
    if wanted.statuses is not None:
        statement = statement.where(orders.c.status.in_(wanted.statuses))
    if wanted.placed_from is not None:
        statement = statement.where(orders.c.placed_at >= wanted.placed_from)
    if wanted.placed_before is not None:
        statement = statement.where(orders.c.placed_at < wanted.placed_before)
    if before is not None:
        statement = statement.where(tuple_(orders.c.placed_at, orders.c.id) < tuple_(*before))
    return await _with_parts((await session.execute(statement)).mappings(), session)


async def _with_parts(rows: Iterable[RowMapping], session: AsyncSession) -> list[Order]:
    """Orders with their lines and timelines: three statements, however many orders."""
    found = list(rows)
    ids = [row["id"] for row in found]
    lines: defaultdict[UUID, list[OrderLine]] = defaultdict(list)
    timelines: defaultdict[UUID, list[TimelineEntry]] = defaultdict(list)
    if ids:
        of_these = select(order_lines).where(order_lines.c.order_id.in_(ids))
        for row in await session.execute(of_these.order_by(order_lines.c.order_id, order_lines.c.position)):
            lines[row.order_id].append(
                OrderLine(
                    sku=row.sku,
                    quantity=row.quantity,
                    unit_price_minor=row.unit_price_minor,
                    tax_rate_bp=row.tax_rate_bp,
                )
            )
        told = select(order_timeline).where(order_timeline.c.order_id.in_(ids))
        for row in await session.execute(told.order_by(order_timeline.c.at, order_timeline.c.id)):
            timelines[row.order_id].append(TimelineEntry(at=row.at, event=TimelineEvent(row.event), detail=row.detail))
    return [Order(**row, lines=lines[row["id"]], timeline=timelines[row["id"]]) for row in found]
