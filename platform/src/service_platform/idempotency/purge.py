"""The purge of idempotency keys: a key that is gone is free again, and its request would take effect a second time."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import text

from service_platform.database import Transaction

# Oldest first by the index. A row that another purge has in hand is left to it.
_PURGE = text(
    """
    WITH old AS (
        SELECT subject, operation, key FROM idempotency_key
        WHERE created_at < (SELECT platform_now()) - CAST(:older_than AS interval)
        ORDER BY created_at
        LIMIT :rows
        FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM idempotency_key k USING old
        WHERE (k.subject, k.operation, k.key) = (old.subject, old.operation, old.key)
        RETURNING 1
    )
    SELECT count(*) FROM gone
    """
)


async def purge_idempotency_keys(tx: Transaction, *, older_than: timedelta, rows: int) -> int:
    """Delete up to `rows` keys that were used longer ago than that.

    How many were deleted: fewer than `rows` say that no more are left.
    """
    return int((await tx.session.execute(_PURGE, {"older_than": older_than, "rows": rows})).scalar_one())
