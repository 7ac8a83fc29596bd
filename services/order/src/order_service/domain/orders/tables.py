"""The tables of an order: what was ordered, where it stands, and what happened to it.

Bounds of values are CHECK constraints of the migrations.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

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
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from .models import CancelReason, OrderStatus

metadata: Final = MetaData()


def _values(members: Iterable[str]) -> list[str]:
    """What is stored of an enumeration: the values, not the names."""
    return [*members]


orders: Final = Table(
    "orders",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("customer_id", Text, nullable=False),
    Column("customer_email", Text, nullable=False),
    Column("locale", Text, nullable=False),
    Column("status", Enum(OrderStatus, native_enum=False, length=16, values_callable=_values), nullable=False),
    Column("currency", Text, nullable=False),
    Column("total_minor", BigInteger, nullable=False),
    Column("refunded_minor", BigInteger, nullable=False, server_default=text("0")),
    Column("payment_method", Text, nullable=False),
    Column("placed_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
    Column("paid_at", DateTime(timezone=True)),
    Column("cancel_reason", Enum(CancelReason, native_enum=False, length=16, values_callable=_values)),
    Column("cancel_requested_at", DateTime(timezone=True)),
    Column("invoice_number", Text),
    Column("credit_note_numbers", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Index("orders_by_age", "placed_at", "id"),
    Index("orders_of_customer", "customer_id", "placed_at", "id"),
    Index("orders_by_status", "status", "placed_at", "id"),
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
    Index("order_timeline_cancelled_once", "order_id", unique=True, postgresql_where=text("event = 'order.cancelled'")),
)
