"""The tables of payments: what became of each one, its refunds, and what the provider told.

Bounds of values, and which columns each state needs, are CHECK constraints of the migrations.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from sqlalchemy import BigInteger, Column, DateTime, Enum, ForeignKey, Index, MetaData, Table, Text, Uuid, text

from .models import PaymentStatus
from .refund_models import RefundReason, RefundStatus

metadata: Final = MetaData()


def _stored(of: type[StrEnum]) -> Enum:
    """A column's type for an enumeration: the values are stored, not the names."""
    return Enum(of, native_enum=False, length=16, values_callable=lambda members: [*members])


payments: Final = Table(
    "payments",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("order_id", Uuid, nullable=False, unique=True),
    Column("status", _stored(PaymentStatus), nullable=False),
    Column("amount_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("payment_method", Text, nullable=False),
    Column("intent_id", Text, unique=True),
    Column("reason", Text),
    Column("cancel_requested_at", DateTime(timezone=True)),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
    Column("concluded_at", DateTime(timezone=True)),
    Column("refund_reserved_minor", BigInteger, nullable=False, server_default=text("0")),
    Column("refunded_minor", BigInteger, nullable=False, server_default=text("0")),
    Column("concluded_as", _stored(PaymentStatus)),
    Column("contested_intent", Text),
    Column("under_review_since", DateTime(timezone=True)),
    Column("resolved_at", DateTime(timezone=True)),
    Index("payments_by_age", "created_at", "id"),
    Index("payments_under_review", "created_at", "id", postgresql_where=text("status = 'needs_review'")),
    Index(
        "payments_open",
        "created_at",
        postgresql_where=text("status IN ('created', 'processing', 'confirming')"),
    ),
)

refunds: Final = Table(
    "refunds",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("payment_id", Uuid, ForeignKey("payments.id"), nullable=False),
    Column("amount_minor", BigInteger, nullable=False),
    Column("reason", _stored(RefundReason), nullable=False),
    Column("status", _stored(RefundStatus), nullable=False),
    Column("run_key", Text),
    Column("run_key_at", DateTime(timezone=True)),
    Column("provider_reference", Text, unique=True),
    Column("detail", Text),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
    Column("concluded_at", DateTime(timezone=True)),
    Index("refunds_by_payment", "payment_id", "created_at", "id"),
    Index("refunds_under_review", "created_at", "id", postgresql_where=text("status = 'needs_review'")),
    Index("refunds_unanswered", "created_at", postgresql_where=text("status = 'reserved'")),
    Index("refunds_one_for_a_cancel", "payment_id", unique=True, postgresql_where=text("reason = 'order_cancelled'")),
)

provider_events: Final = Table(
    "provider_events",
    metadata,
    Column("event_id", Text, primary_key=True),
    Column("type", Text, nullable=False),
    Column("intent_id", Text),
    Column("received_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
    Index("provider_events_by_age", "received_at"),
)
