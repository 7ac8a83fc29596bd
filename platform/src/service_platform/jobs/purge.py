"""The purge: finished jobs are kept for a while and then deleted, others never."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import text

from service_platform.database import Transaction

_PURGE = text("SELECT job_purge(:older_than, :rows)")


async def purge_jobs(tx: Transaction, *, older_than: timedelta, rows: int) -> int:
    """Delete up to `rows` jobs that were done or cancelled longer ago than that.

    A dead job, and one that needs review, stays until a person has retried or resolved it. How many were deleted:
    fewer than `rows` say that no more are left. Any number may run at once; each passes over what another has in hand.

    A job's row is what makes a second enqueue of its key a no-op, so `older_than` must outlast everything that could
    enqueue the key again. For a consumer that is the redelivery of its event, which the inbox stops for as long as
    its row is kept: so it is no shorter than the inbox's (`ServiceSettings` checks it). A tick cannot come again,
    since its row moves only forward; whatever else enqueues has a row of its own that says that it did.
    """
    return int((await tx.session.execute(_PURGE, {"older_than": older_than, "rows": rows})).scalar_one())
