"""The platform's tables, and orders with their lines and timeline."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from service_platform.database import schema as database
from service_platform.idempotency import schema as idempotency
from service_platform.inbox import schema as inbox
from service_platform.jobs import schema as jobs
from service_platform.ops import schema as ops
from service_platform.outbox import schema as outbox
from service_platform.ticks import schema as ticks

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_PLATFORM = (database, outbox, inbox, jobs, ticks, idempotency, ops)


def upgrade() -> None:
    for module in _PLATFORM:
        module.step_1_up()
    op.create_table(
        "orders",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("customer_id", sa.Text(), nullable=False),
        sa.Column("customer_email", sa.Text(), nullable=False),
        sa.Column("locale", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("total_minor", sa.BigInteger(), nullable=False),
        sa.Column("refunded_minor", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.Column("payment_method", sa.Text(), nullable=False),
        sa.Column("placed_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("platform_now()")),
        sa.Column("paid_at", sa.DateTime(timezone=True)),
        sa.Column("cancel_reason", sa.String(16)),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True)),
        sa.Column("invoice_number", sa.Text()),
        sa.Column("credit_note_numbers", ARRAY(sa.Text()), nullable=False, server_default=sa.text("'{}'")),
        sa.CheckConstraint("length(customer_id) BETWEEN 1 AND 255", name="orders_customer_bounded"),
        sa.CheckConstraint("length(customer_email) BETWEEN 3 AND 254", name="orders_email_bounded"),
        sa.CheckConstraint("locale IN ('en', 'vi')", name="orders_locale_known"),
        sa.CheckConstraint(
            "status IN ('pending_payment', 'paid', 'declined', 'cancelling', 'cancelled')", name="orders_status_known"
        ),
        sa.CheckConstraint("status <> 'paid' OR paid_at IS NOT NULL", name="orders_paid_says_when"),
        sa.CheckConstraint(
            "status <> 'declined' OR (paid_at IS NULL AND refunded_minor = 0)", name="orders_declined_moved_no_money"
        ),
        sa.CheckConstraint(
            "status <> 'cancelled' OR paid_at IS NULL OR refunded_minor = total_minor",
            name="orders_cancelled_keeps_no_money",
        ),
        sa.CheckConstraint("cancel_reason IN ('customer', 'expired')", name="orders_cancel_reason_known"),
        sa.CheckConstraint(
            "num_nulls(cancel_reason, cancel_requested_at)"
            " = CASE WHEN status IN ('cancelling', 'cancelled') THEN 0 ELSE 2 END",
            name="orders_cancel_was_requested",
        ),
        sa.CheckConstraint("currency ~ '^[A-Z]{3}$'", name="orders_currency_iso_4217"),
        sa.CheckConstraint("total_minor BETWEEN 0 AND 100000000000", name="orders_total_bounded"),
        sa.CheckConstraint("refunded_minor BETWEEN 0 AND total_minor", name="orders_refunded_at_most_total"),
        sa.CheckConstraint("length(payment_method) BETWEEN 1 AND 255", name="orders_method_bounded"),
        sa.CheckConstraint("length(invoice_number) BETWEEN 1 AND 64", name="orders_invoice_bounded"),
    )
    op.create_index("orders_by_age", "orders", ["placed_at", "id"])
    op.create_index("orders_of_customer", "orders", ["customer_id", "placed_at", "id"])
    op.create_index("orders_by_status", "orders", ["status", "placed_at", "id"])
    database.protect("orders", ["SELECT", "INSERT", "UPDATE"])

    op.create_table(
        "order_lines",
        sa.Column("order_id", sa.Uuid(), sa.ForeignKey("orders.id"), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("sku", sa.Text(), nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("unit_price_minor", sa.BigInteger(), nullable=False),
        sa.Column("tax_rate_bp", sa.Integer(), nullable=False),
        sa.CheckConstraint("position BETWEEN 1 AND 100", name="order_lines_position_bounded"),
        sa.CheckConstraint("length(sku) BETWEEN 1 AND 64", name="order_lines_sku_bounded"),
        sa.CheckConstraint("quantity BETWEEN 1 AND 10000", name="order_lines_quantity_bounded"),
        sa.CheckConstraint("unit_price_minor BETWEEN 0 AND 1000000000", name="order_lines_price_bounded"),
        sa.CheckConstraint("tax_rate_bp BETWEEN 0 AND 10000", name="order_lines_rate_bounded"),
    )
    database.protect("order_lines", ["SELECT", "INSERT"])

    op.create_table(
        "order_timeline",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), primary_key=True),
        sa.Column("order_id", sa.Uuid(), sa.ForeignKey("orders.id"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("detail", JSONB(), nullable=False),
    )
    op.create_index("order_timeline_of_order", "order_timeline", ["order_id", "at", "id"])
    op.create_index(
        "order_timeline_cancelled_once",
        "order_timeline",
        ["order_id"],
        unique=True,
        postgresql_where=sa.text("event = 'order.cancelled'"),
    )
    database.protect("order_timeline", ["SELECT", "INSERT"])


def downgrade() -> None:
    op.drop_table("order_timeline")
    op.drop_table("order_lines")
    op.drop_table("orders")
    for module in reversed(_PLATFORM):
        module.step_1_down()
