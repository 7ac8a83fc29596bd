"""The platform's tables, and payments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

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
        "payments",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("order_id", sa.Uuid(), nullable=False, unique=True),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("payment_method", sa.Text(), nullable=False),
        sa.Column("intent_id", sa.Text(), unique=True),
        sa.Column("reason", sa.Text()),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True)),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("platform_now()")),
        sa.Column("concluded_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint(
            "status IN ('created', 'processing', 'confirming', 'settled', 'declined', 'cancelled', 'needs_review')",
            name="payments_status_known",
        ),
        sa.CheckConstraint("amount_minor BETWEEN 0 AND 100000000000", name="payments_amount_bounded"),
        sa.CheckConstraint("currency ~ '^[A-Z]{3}$'", name="payments_currency_iso_4217"),
        sa.CheckConstraint("length(payment_method) BETWEEN 1 AND 255", name="payments_method_bounded"),
        sa.CheckConstraint("length(intent_id) BETWEEN 1 AND 255", name="payments_intent_bounded"),
        sa.CheckConstraint("length(reason) BETWEEN 1 AND 255", name="payments_reason_bounded"),
        sa.CheckConstraint("status <> 'confirming' OR intent_id IS NOT NULL", name="payments_confirming_has_intent"),
        sa.CheckConstraint(
            "status <> 'settled' OR intent_id IS NOT NULL OR amount_minor = 0", name="payments_settled_has_intent"
        ),
        sa.CheckConstraint(
            "(status IN ('declined', 'needs_review')) = (reason IS NOT NULL)", name="payments_reason_given"
        ),
        sa.CheckConstraint(
            "(status IN ('settled', 'declined', 'cancelled')) = (concluded_at IS NOT NULL)",
            name="payments_concluded_has_time",
        ),
    )
    op.create_index("payments_by_age", "payments", ["created_at", "id"])
    database.protect("payments", ["SELECT", "INSERT", "UPDATE"])


def downgrade() -> None:
    op.drop_table("payments")
    for module in reversed(_PLATFORM):
        module.step_1_down()
