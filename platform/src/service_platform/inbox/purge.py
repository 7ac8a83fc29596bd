"""The purge of what was handled: kept for longer than any topic could bring it again, then deleted."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import text

from service_platform.database import Transaction

_PURGE = text("SELECT inbox_purge(:older_than, :rows)")


async def purge_inbox(tx: Transaction, *, older_than: timedelta, rows: int) -> int:
    """Delete up to `rows` events that were handled longer ago than that, and as many decided dead letters.

    A dead letter that waits for a person, and one whose event is still being retried, is never deleted. How many were
    deleted: fewer than `rows` say that no more are left.
    """
    return int((await tx.session.execute(_PURGE, {"older_than": older_than, "rows": rows})).scalar_one())
