"""The tables of an order. Every change of state is one compare-and-set statement here, and nowhere else.

Bounds of values are CHECK constraints of the migrations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Enum,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    RowMapping,
    Table,
    Text,
    Uuid,
    insert,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction

from .commands import PlaceOrder
from .errors import OrderNotFound, OrderStateConflict
from .models import Order, OrderLine, OrderStatus, TimelineEntry, TimelineEvent

metadata: Final = MetaData()

orders: Final = Table(
    "orders",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("customer_id", Text, nullable=False),
    Column("customer_email", Text, nullable=False),
    Column("locale", Text, nullable=False),
    Column(
        "status",
        Enum(OrderStatus, native_enum=False, length=16, values_callable=lambda statuses: [*statuses]),
        nullable=False,
    ),
    Column("currency", Text, nullable=False),
    Column("total_minor", BigInteger, nullable=False),
    Column("refunded_minor", BigInteger, nullable=False, server_default=text("0")),
    Column("payment_method", Text, nullable=False),
    Column("placed_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
    Column("invoice_number", Text),
    Index("orders_by_age", "placed_at", "id"),
    Index("orders_of_customer", "customer_id", "placed_at", "id"),
)

order_lines: Final = Table(
    "order_lines",
    metadata,
    Column("order_id", Uuid, ForeignKey("orders.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("sku", Text, nullable=False),
    Column("quantity", Integer, nullable=False),
    Column("unit_price_minor", BigInteger, nullable=False),
    Column("tax_rate_bp", Integer, nullable=False),
)

order_timeline: Final = Table(
    "order_timeline",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("order_id", Uuid, ForeignKey("orders.id"), nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("event", Text, nullable=False),
    Column("detail", JSONB, nullable=False),
    Index("order_timeline_of_order", "order_id", "at", "id"),
)


class OrderTable:
    """The transitions. One that finds another state than it needs changes nothing and says so."""

    async def insert(self, order_id: UUID, command: PlaceOrder, *, total_minor: int, tx: Transaction) -> Order:
        """A new order, pending payment; the beginning of its timeline is the time of the insert."""
        statement = insert(orders).values(
            id=order_id,
            customer_id=command.customer_id,
            customer_email=command.customer_email,
            locale=command.locale,
            status=OrderStatus.PENDING_PAYMENT,
            currency=command.currency,
            total_minor=total_minor,
            payment_method=command.payment_method,
        )
        row = (await tx.session.execute(statement.returning(orders))).mappings().one()
        await tx.session.execute(
            insert(order_lines),
            [
                {"order_id": order_id, "position": position, **asdict(line)}
                for position, line in enumerate(command.lines, start=1)
            ],
        )
        placed = TimelineEntry(at=row["placed_at"], event=TimelineEvent.PLACED, detail={})
        await self.append(order_id, placed, tx)
        return Order(**row, lines=command.lines, timeline=[placed])

    async def conclude(self, order_id: UUID, wanted: OrderStatus, tx: Transaction) -> None:
        """pending_payment → paid or declined; `tx` holds the order's row lock from then on.

        Raises `OrderStateConflict` when the order is not pending, `OrderNotFound` when there is none.
        """
        pending = (orders.c.id == order_id) & (orders.c.status == OrderStatus.PENDING_PAYMENT)
        moved = update(orders).where(pending).values(status=wanted).returning(orders.c.id)
        if (await tx.session.execute(moved)).one_or_none() is None:
            status = (await tx.session.execute(select(orders.c.status).where(orders.c.id == order_id))).scalar()
            if status is None:
                raise OrderNotFound(order_id=str(order_id))
            raise OrderStateConflict(order_id=str(order_id), state=status.value, wanted=wanted.value)

    async def keep_invoice_number(self, order_id: UUID, invoice_number: str, tx: Transaction) -> None:
        """Make it the order's invoice number, whatever state the order is in. Raises `OrderNotFound`."""
        kept = update(orders).where(orders.c.id == order_id).values(invoice_number=invoice_number)
        if (await tx.session.execute(kept.returning(orders.c.id))).one_or_none() is None:
            raise OrderNotFound(order_id=str(order_id))

    async def append(self, order_id: UUID, entry: TimelineEntry, tx: Transaction) -> None:
        """Add to the order's timeline."""
        await tx.session.execute(insert(order_timeline).values(order_id=order_id, **asdict(entry)))


async def find(order_id: UUID, session: AsyncSession) -> Order | None:
    """The order as `session` sees it, unlocked, with its lines and timeline."""
    found = await _with_parts(
        (await session.execute(select(orders).where(orders.c.id == order_id))).mappings(), session
    )
    return found[0] if found else None


async def newest(
    *, customer_id: str | None, before: tuple[datetime, UUID] | None, limit: int, session: AsyncSession
) -> list[Order]:
    """Up to `limit` orders, newest first, from before the position (placed at, id); of one customer or of all."""
    statement = select(orders).order_by(orders.c.placed_at.desc(), orders.c.id.desc()).limit(limit)
    if customer_id is not None:
        statement = statement.where(orders.c.customer_id == customer_id)
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
