"""The platform's tables, and invoices and credit notes with all that leads to them and follows from them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

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

_NUMBER = "series || '-' || year || '-' || lpad(sequence::text, greatest(6, length(sequence::text)), '0')"

_PLATFORM = (database, outbox, inbox, jobs, ticks, idempotency, ops)


def upgrade() -> None:
    for module in _PLATFORM:
        module.step_1_up()
    _gathered_orders()
    _gathered_refunds()
    _number_series()
    _invoices()
    _credit_notes()
    for kind, owner in (("invoice", "invoices"), ("credit_note", "credit_notes")):
        _deliveries(kind, owner)


def downgrade() -> None:
    for kind in ("credit_note", "invoice"):
        op.drop_table(f"{kind}_mails")
        op.drop_table(f"{kind}_documents")
    for table in ("credit_notes", "invoices", "number_series", "gathered_refunds", "gathered_orders"):
        op.drop_table(table)
    for module in reversed(_PLATFORM):
        module.step_1_down()


def _gathered_orders() -> None:
    op.create_table(
        "gathered_orders",
        sa.Column("order_id", sa.Uuid(), primary_key=True),
        sa.Column("customer_id", sa.Text()),
        sa.Column("customer_email", sa.Text()),
        sa.Column("language", sa.Text()),
        sa.Column("currency", sa.Text()),
        sa.Column("lines", JSONB()),
        sa.Column("payment_id", sa.Uuid()),
        sa.Column("paid_minor", sa.BigInteger()),
        sa.Column("paid_currency", sa.Text()),
        sa.Column("settled_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint(
            "num_nulls(customer_id, customer_email, language, currency, lines) IN (0, 5)",
            name="gathered_orders_placed_is_whole",
        ),
        sa.CheckConstraint(
            "num_nulls(payment_id, paid_minor, paid_currency, settled_at) IN (0, 4)",
            name="gathered_orders_settled_is_whole",
        ),
        sa.CheckConstraint("language IN ('en', 'vi')", name="gathered_orders_language_known"),
    )
    database.protect("gathered_orders", ["SELECT", "INSERT", "UPDATE"])


def _gathered_refunds() -> None:
    op.create_table(
        "gathered_refunds",
        sa.Column("refund_id", sa.Uuid(), primary_key=True),
        sa.Column("order_id", sa.Uuid(), sa.ForeignKey("gathered_orders.order_id"), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("refunded_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("amount_minor BETWEEN 1 AND 100000000000", name="gathered_refunds_amount_bounded"),
    )
    op.create_index("gathered_refunds_of_order", "gathered_refunds", ["order_id", "refunded_at", "refund_id"])
    database.protect("gathered_refunds", ["SELECT", "INSERT"])


def _number_series() -> None:
    series = op.create_table(
        "number_series",
        sa.Column("series", sa.Text(), primary_key=True),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("last_number", sa.BigInteger(), nullable=False),
        sa.Column("last_issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("series ~ '^[A-Z]{1,8}$'", name="number_series_named"),
        sa.CheckConstraint("last_number >= 0", name="number_series_counts_up"),
    )
    database.protect("number_series", ["SELECT", "UPDATE"])
    for name in ("INV", "CN"):
        op.execute(sa.insert(series).values(series=name, year=0, last_number=0, last_issued_at=sa.text("'-infinity'")))


def _invoices() -> None:
    op.create_table(
        "invoices",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("series", sa.Text(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column(
            "number",
            sa.Text(),
            sa.Computed(_NUMBER),
            nullable=False,
        ),
        sa.Column("order_id", sa.Uuid(), sa.ForeignKey("gathered_orders.order_id"), nullable=False, unique=True),
        sa.Column("payment_id", sa.Uuid(), nullable=False, unique=True),
        sa.Column("customer_id", sa.Text(), nullable=False),
        sa.Column("customer_email", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("total_minor", sa.BigInteger(), nullable=False),
        sa.Column("lines", JSONB(), nullable=False),
        sa.Column("taxes", JSONB(), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("series", "year", "sequence", name="invoices_number_once"),
        sa.CheckConstraint("sequence >= 1", name="invoices_sequence_from_one"),
        sa.CheckConstraint(
            "extract(year FROM issued_at AT TIME ZONE 'UTC') = year", name="invoices_year_is_that_of_issue"
        ),
        sa.CheckConstraint("currency ~ '^[A-Z]{3}$'", name="invoices_currency_iso_4217"),
        sa.CheckConstraint("total_minor BETWEEN 0 AND 100000000000", name="invoices_total_bounded"),
        sa.CheckConstraint("language IN ('en', 'vi')", name="invoices_language_known"),
    )
    op.create_index("invoices_by_age", "invoices", ["issued_at", "id"])
    op.create_index("invoices_of_customer", "invoices", ["customer_id", "issued_at", "id"])
    database.protect("invoices", ["SELECT", "INSERT"])


def _credit_notes() -> None:
    op.create_table(
        "credit_notes",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("series", sa.Text(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Text(), sa.Computed(_NUMBER), nullable=False),
        sa.Column("invoice_id", sa.Uuid(), sa.ForeignKey("invoices.id"), nullable=False),
        sa.Column("refund_id", sa.Uuid(), sa.ForeignKey("gathered_refunds.refund_id"), nullable=False, unique=True),
        sa.Column("customer_id", sa.Text(), nullable=False),
        sa.Column("total_minor", sa.BigInteger(), nullable=False),
        sa.Column("taxes", JSONB(), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("series", "year", "sequence", name="credit_notes_number_once"),
        sa.CheckConstraint("sequence >= 1", name="credit_notes_sequence_from_one"),
        sa.CheckConstraint(
            "extract(year FROM issued_at AT TIME ZONE 'UTC') = year", name="credit_notes_year_is_that_of_issue"
        ),
        sa.CheckConstraint("total_minor BETWEEN 1 AND 100000000000", name="credit_notes_total_bounded"),
    )
    op.create_index("credit_notes_by_age", "credit_notes", ["issued_at", "id"])
    op.create_index("credit_notes_of_customer", "credit_notes", ["customer_id", "issued_at", "id"])
    op.create_index("credit_notes_of_invoice", "credit_notes", ["invoice_id"])
    database.protect("credit_notes", ["SELECT", "INSERT"])


def _deliveries(kind: str, owner: str) -> None:
    op.create_table(
        f"{kind}_documents",
        sa.Column(f"{kind}_id", sa.Uuid(), sa.ForeignKey(f"{owner}.id"), primary_key=True),
        sa.Column("pdf", sa.LargeBinary(), nullable=False),
        sa.Column("rendered_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("platform_now()")),
        sa.CheckConstraint("length(pdf) BETWEEN 1 AND 4194304", name=f"{kind}_documents_bounded"),
    )
    # A PDF is compressed already: trying again costs time and saves nothing.
    op.execute(f"ALTER TABLE {kind}_documents ALTER COLUMN pdf SET STORAGE EXTERNAL")
    database.protect(f"{kind}_documents", ["SELECT", "INSERT"])
    op.create_table(
        f"{kind}_mails",
        sa.Column(f"{kind}_id", sa.Uuid(), sa.ForeignKey(f"{owner}.id"), primary_key=True),
        sa.Column("message_id", sa.Text(), nullable=False, unique=True),
        sa.Column("intents", sa.Integer(), nullable=False),
        sa.Column("intended_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("platform_now()")),
        sa.Column("mailed_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("intents >= 1", name=f"{kind}_mails_intents_counted"),
    )
    database.protect(f"{kind}_mails", ["SELECT", "INSERT", "UPDATE"])
