"""The purge: sent messages are kept for a while and then deleted, unsent ones never."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import text

from service_platform.database import Transaction

_PURGE = text("SELECT outbox_purge(:older_than, :rows)")


async def purge_outbox(tx: Transaction, *, older_than: timedelta, rows: int) -> int:
    """Delete up to `rows` messages that were written longer ago than that and are not in the queue any more.

    A message that was discarded is kept as long after that. How many were deleted: fewer than `rows` say that no
    more are left. Any number may run at once.
    """
    return int((await tx.session.execute(_PURGE, {"older_than": older_than, "rows": rows})).scalar_one())
