"""The tables of invoicing: what has come of an order, invoices and credit notes with documents and mails, numbers.

Bounds of values are CHECK constraints of the migrations.
"""

from __future__ import annotations

from dataclasses import dataclass
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

_NUMBER: Final = "series || '-' || year || '-' || lpad(sequence::text, greatest(6, length(sequence::text)), '0')"

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

gathered_refunds: Final = Table(
    "gathered_refunds",
    metadata,
    Column("refund_id", Uuid, primary_key=True),
    Column("order_id", Uuid, ForeignKey("gathered_orders.order_id"), nullable=False),
    Column("amount_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("refunded_at", DateTime(timezone=True), nullable=False),
    Index("gathered_refunds_of_order", "order_id", "refunded_at", "refund_id"),
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
        Computed(_NUMBER),
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

credit_notes: Final = Table(
    "credit_notes",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("series", Text, nullable=False),
    Column("year", Integer, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("number", Text, Computed(_NUMBER), nullable=False),
    Column("invoice_id", Uuid, ForeignKey("invoices.id"), nullable=False),
    Column("refund_id", Uuid, ForeignKey("gathered_refunds.refund_id"), nullable=False, unique=True),
    Column("customer_id", Text, nullable=False),
    Column("total_minor", BigInteger, nullable=False),
    Column("taxes", JSONB, nullable=False),
    Column("issued_at", DateTime(timezone=True), nullable=False),
    UniqueConstraint("series", "year", "sequence", name="credit_notes_number_once"),
    Index("credit_notes_by_age", "issued_at", "id"),
    Index("credit_notes_of_customer", "customer_id", "issued_at", "id"),
    Index("credit_notes_of_invoice", "invoice_id"),
)


@dataclass(frozen=True, slots=True)
class DeliveryTables:
    """Where the documents and the mails of one kind of document are kept; the id of both is its primary key."""

    documents: Table
    mails: Table

    @classmethod
    def of(cls, kind: str, owner: Table) -> DeliveryTables:
        """`<kind>_documents` and `<kind>_mails`, by `<kind>_id`."""
        return cls(
            Table(
                f"{kind}_documents",
                metadata,
                Column(f"{kind}_id", Uuid, ForeignKey(owner.c.id), primary_key=True),
                Column("pdf", LargeBinary, nullable=False),
                Column("rendered_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
            ),
            Table(
                f"{kind}_mails",
                metadata,
                Column(f"{kind}_id", Uuid, ForeignKey(owner.c.id), primary_key=True),
                Column("message_id", Text, nullable=False, unique=True),
                Column("intents", Integer, nullable=False),
                Column("intended_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
                Column("mailed_at", DateTime(timezone=True)),
            ),
        )


OF_INVOICES: Final = DeliveryTables.of("invoice", invoices)
OF_CREDIT_NOTES: Final = DeliveryTables.of("credit_note", credit_notes)
