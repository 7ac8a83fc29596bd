"""The inbox table."""

from __future__ import annotations

from alembic import op

from service_platform.database.schema import protect


def step_1_up() -> None:
    op.execute(
        """
        CREATE TABLE inbox (
            consumer text NOT NULL,
            source text NOT NULL,
            event_id uuid NOT NULL,
            handled_at timestamptz NOT NULL,
            PRIMARY KEY (consumer, source, event_id)
        )
        """
    )
    protect("inbox", ["SELECT", "INSERT"])


def step_1_down() -> None:
    op.execute("DROP TABLE inbox")
