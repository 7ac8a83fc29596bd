"""The table of idempotency keys, as numbered steps for a service's own migrations."""

from __future__ import annotations

from alembic import op

from service_platform.database.schema import protect


def step_1_up() -> None:
    """One row per Idempotency-Key. It is inserted first and answered last in one transaction, so a committed row
    always has its answer."""
    op.execute(
        """
        CREATE TABLE idempotency_key (
            subject text NOT NULL,
            operation text NOT NULL,
            key text NOT NULL,
            fingerprint bytea NOT NULL,
            status smallint,
            answer text,
            created_at timestamptz NOT NULL DEFAULT platform_now(),
            PRIMARY KEY (subject, operation, key),
            CHECK (length(subject) <= 255 AND length(operation) <= 64 AND length(key) <= 128),
            CHECK ((status IS NULL) = (answer IS NULL))
        )
        """
    )
    op.execute("CREATE INDEX idempotency_key_created_at ON idempotency_key (created_at)")  # for the purge
    protect("idempotency_key", ["SELECT", "INSERT", "UPDATE", "DELETE"])


def step_1_down() -> None:
    op.execute("DROP TABLE idempotency_key")
