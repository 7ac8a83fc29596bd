"""The platform's tables, payments with their refunds, and what the provider told."""

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
        sa.Column("refund_reserved_minor", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.Column("refunded_minor", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.Column("concluded_as", sa.String(16)),
        sa.Column("contested_intent", sa.Text()),
        sa.Column("under_review_since", sa.DateTime(timezone=True)),
        sa.Column("resolved_at", sa.DateTime(timezone=True)),
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
            "status NOT IN ('settled', 'declined', 'cancelled') OR concluded_at IS NOT NULL",
            name="payments_concluded_has_time",
        ),
        sa.CheckConstraint(
            "status NOT IN ('created', 'processing', 'confirming') OR concluded_at IS NULL",
            name="payments_open_has_no_end",
        ),
        sa.CheckConstraint(
            "refund_reserved_minor >= 0 AND refunded_minor >= 0"
            " AND refund_reserved_minor + refunded_minor <= amount_minor",
            name="payments_refunds_within_capture",
        ),
        sa.CheckConstraint(
            "refund_reserved_minor + refunded_minor = 0"
            " OR status = 'settled' OR (status = 'needs_review' AND concluded_at IS NOT NULL)"
            " OR resolved_at IS NOT NULL",  # a person saw that what was captured went back
            name="payments_only_captured_money_goes_back",
        ),
        sa.CheckConstraint(
            "concluded_as IS NULL OR (status = 'needs_review' AND concluded_at IS NOT NULL"
            " AND concluded_as IN ('settled', 'declined', 'cancelled'))",
            name="payments_concluded_as_something",
        ),
        sa.CheckConstraint(
            "status <> 'needs_review' OR under_review_since IS NOT NULL", name="payments_review_has_time"
        ),
        sa.CheckConstraint("length(contested_intent) BETWEEN 1 AND 255", name="payments_contested_bounded"),
    )
    op.create_index(
        "payments_under_review", "payments", ["created_at", "id"], postgresql_where=sa.text("status = 'needs_review'")
    )
    op.create_index("payments_by_age", "payments", ["created_at", "id"])
    op.create_index(
        "payments_open",
        "payments",
        ["created_at"],
        postgresql_where=sa.text("status IN ('created', 'processing', 'confirming')"),
    )
    database.protect("payments", ["SELECT", "INSERT", "UPDATE"])
    _create_refunds()
    op.create_table(
        "provider_events",
        sa.Column("event_id", sa.Text(), primary_key=True),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("intent_id", sa.Text()),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("platform_now()")),
        sa.CheckConstraint("length(event_id) BETWEEN 1 AND 255", name="provider_events_id_bounded"),
        sa.CheckConstraint("length(type) BETWEEN 1 AND 255", name="provider_events_type_bounded"),
        sa.CheckConstraint("length(intent_id) BETWEEN 1 AND 255", name="provider_events_intent_bounded"),
    )
    op.create_index("provider_events_by_age", "provider_events", ["received_at"])
    database.protect("provider_events", ["SELECT", "INSERT", "DELETE"])


def _create_refunds() -> None:
    op.create_table(
        "refunds",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("payment_id", sa.Uuid(), sa.ForeignKey("payments.id"), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("run_key", sa.Text()),
        sa.Column("run_key_at", sa.DateTime(timezone=True)),
        sa.Column("provider_reference", sa.Text(), unique=True),
        sa.Column("detail", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("platform_now()")),
        sa.Column("concluded_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("amount_minor > 0", name="refunds_amount_positive"),
        sa.CheckConstraint(
            "reason IN ('requested', 'order_cancelled', 'made_at_provider')", name="refunds_reason_known"
        ),
        sa.CheckConstraint("status IN ('reserved', 'done', 'failed', 'needs_review')", name="refunds_status_known"),
        sa.CheckConstraint("(run_key IS NULL) = (run_key_at IS NULL)", name="refunds_key_has_time"),
        sa.CheckConstraint("length(run_key) BETWEEN 1 AND 255", name="refunds_key_bounded"),
        sa.CheckConstraint("length(provider_reference) BETWEEN 1 AND 255", name="refunds_reference_bounded"),
        sa.CheckConstraint("length(detail) BETWEEN 1 AND 255", name="refunds_detail_bounded"),
        sa.CheckConstraint("status <> 'done' OR provider_reference IS NOT NULL", name="refunds_done_has_reference"),
        sa.CheckConstraint(
            "(status IN ('failed', 'needs_review')) = (detail IS NOT NULL)", name="refunds_detail_given"
        ),
        sa.CheckConstraint(
            "(status IN ('done', 'failed')) = (concluded_at IS NOT NULL)", name="refunds_concluded_has_time"
        ),
    )
    op.create_index("refunds_by_payment", "refunds", ["payment_id", "created_at", "id"])
    op.create_index(
        "refunds_under_review", "refunds", ["created_at", "id"], postgresql_where=sa.text("status = 'needs_review'")
    )
    op.create_index("refunds_unanswered", "refunds", ["created_at"], postgresql_where=sa.text("status = 'reserved'"))
    op.create_index(
        "refunds_one_for_a_cancel",
        "refunds",
        ["payment_id"],
        unique=True,
        postgresql_where=sa.text("reason = 'order_cancelled'"),
    )
    database.protect("refunds", ["SELECT", "INSERT", "UPDATE"])
    # Each payment's row counts its refunds, whoever writes one, and a CHECK there holds the sum.
    op.execute(
        """
        CREATE FUNCTION refund_counts() RETURNS trigger
        LANGUAGE plpgsql SET search_path = pg_catalog, public
        AS $$
        DECLARE
            reserved bigint := 0;
            done bigint := 0;
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF (NEW.payment_id, NEW.amount_minor) <> (OLD.payment_id, OLD.amount_minor) THEN
                    RAISE EXCEPTION 'a refund keeps its payment and its amount';
                END IF;
                reserved := -CASE WHEN OLD.status IN ('reserved', 'needs_review') THEN OLD.amount_minor ELSE 0 END;
                done := -CASE WHEN OLD.status = 'done' THEN OLD.amount_minor ELSE 0 END;
            END IF;
            reserved := reserved
                + CASE WHEN NEW.status IN ('reserved', 'needs_review') THEN NEW.amount_minor ELSE 0 END;
            done := done + CASE WHEN NEW.status = 'done' THEN NEW.amount_minor ELSE 0 END;
            IF reserved <> 0 OR done <> 0 THEN
                UPDATE payments
                SET refund_reserved_minor = refund_reserved_minor + reserved, refunded_minor = refunded_minor + done
                WHERE id = NEW.payment_id;
            END IF;
            RETURN NULL;
        END
        $$
        """
    )
    op.execute("REVOKE ALL ON FUNCTION refund_counts() FROM PUBLIC")
    op.execute(
        "CREATE TRIGGER refund_counts AFTER INSERT OR UPDATE ON refunds FOR EACH ROW EXECUTE FUNCTION refund_counts()"
    )


def downgrade() -> None:
    op.drop_table("provider_events")
    op.drop_table("refunds")
    op.execute("DROP FUNCTION refund_counts()")
    op.drop_table("payments")
    for module in reversed(_PLATFORM):
        module.step_1_down()
