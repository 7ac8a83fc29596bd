"""The tables of invoices: what has come of an order, the invoice, its document, its mail, and the numbers.

Bounds of values are CHECK constraints of the migrations.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Computed,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata: Final = MetaData()

gathered_orders: Final = Table(
    "gathered_orders",
    metadata,
    Column("order_id", Uuid, primary_key=True),
    Column("customer_id", Text),
    Column("customer_email", Text),
    Column("language", Text),
    Column("currency", Text),
    Column("lines", JSONB),
    Column("payment_id", Uuid),
    Column("paid_minor", BigInteger),
    Column("paid_currency", Text),
    Column("settled_at", DateTime(timezone=True)),
)

number_series: Final = Table(
    "number_series",
    metadata,
    Column("series", Text, primary_key=True),
    Column("year", Integer, nullable=False),
    Column("last_number", BigInteger, nullable=False),
    Column("last_issued_at", DateTime(timezone=True), nullable=False),
)

invoices: Final = Table(
    "invoices",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("series", Text, nullable=False),
    Column("year", Integer, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column(
        "number",
        Text,
        Computed("series || '-' || year || '-' || lpad(sequence::text, greatest(6, length(sequence::text)), '0')"),
        nullable=False,
    ),
    Column("order_id", Uuid, ForeignKey("gathered_orders.order_id"), nullable=False, unique=True),
    Column("payment_id", Uuid, nullable=False, unique=True),
    Column("customer_id", Text, nullable=False),
    Column("customer_email", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("total_minor", BigInteger, nullable=False),
    Column("lines", JSONB, nullable=False),
    Column("taxes", JSONB, nullable=False),
    Column("settled_at", DateTime(timezone=True), nullable=False),
    Column("issued_at", DateTime(timezone=True), nullable=False),
    UniqueConstraint("series", "year", "sequence", name="invoices_number_once"),
    Index("invoices_by_age", "issued_at", "id"),
    Index("invoices_of_customer", "customer_id", "issued_at", "id"),
)

invoice_documents: Final = Table(
    "invoice_documents",
    metadata,
    Column("invoice_id", Uuid, ForeignKey("invoices.id"), primary_key=True),
    Column("pdf", LargeBinary, nullable=False),
    Column("rendered_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
)

invoice_mails: Final = Table(
    "invoice_mails",
    metadata,
    Column("invoice_id", Uuid, ForeignKey("invoices.id"), primary_key=True),
    Column("message_id", Text, nullable=False, unique=True),
    Column("intents", Integer, nullable=False),
    Column("intended_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
    Column("mailed_at", DateTime(timezone=True)),
)
