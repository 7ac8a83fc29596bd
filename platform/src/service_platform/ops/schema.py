"""The audit table of operator actions, as numbered steps for a service's own migrations."""

from __future__ import annotations

from alembic import op

from service_platform.database.schema import protect


def step_1_up() -> None:
    """One row a call. The service can add rows and read them; it can neither change nor delete one."""
    op.execute(
        """
        CREATE TABLE operator_audit (
            id uuid PRIMARY KEY,
            at timestamptz NOT NULL,
            actor text NOT NULL CHECK (length(actor) BETWEEN 1 AND 255),
            via text NOT NULL CHECK (via IN ('command', 'http', 'function')),
            action text NOT NULL CHECK (length(action) <= 100),
            input jsonb NOT NULL,
            outcome text NOT NULL CHECK (outcome IN ('done', 'refused', 'failed')),
            detail text NOT NULL CHECK (length(detail) <= 2000),
            correlation_id text NOT NULL CHECK (length(correlation_id) <= 128)
        )
        """
    )
    op.execute("CREATE INDEX operator_audit_by_age ON operator_audit (at, id)")
    protect("operator_audit", ["SELECT", "INSERT"])


def step_1_down() -> None:
    op.execute("DROP TABLE operator_audit")
