"""The SQL functions of the outbox (step 1) for operators and upkeep."""

# ruff: noqa: S608 - the texts are put together from this file's constants only

from __future__ import annotations

from .functions import OWNED

# Back to where it stood, as a suspect: it is sent alone, and what waits behind it waits on until it got through.
RELEASE = f"""
    CREATE FUNCTION outbox_release(released bigint) RETURNS boolean
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        UPDATE outbox_queue SET parked_at = NULL, tries = 0, not_before = '-infinity'
        WHERE position = released AND parked_at IS NOT NULL
        RETURNING true
    $$
"""

# Out of the queue without having been sent; the message stays, with the reason.
DISCARD = f"""
    CREATE FUNCTION outbox_discard(discarded bigint, reason text) RETURNS boolean
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        WITH gone AS (
            DELETE FROM outbox_queue WHERE position = discarded AND parked_at IS NOT NULL RETURNING position
        )
        UPDATE outbox o SET discarded_at = (SELECT platform_now()), discarded_because = reason
        FROM gone
        WHERE o.position = gone.position
        RETURNING true
    $$
"""

# From the oldest message up to the first that is too young, past those that are still in the queue: what is read is
# what is deleted, so no index has to be kept for it. Positions and times differ by no more than transactions that
# overlapped, so the first young one hides nothing for long. A queue that stands still is not walked over for ever: a
# call looks at a hundred times `max_rows` at most.
PURGE = f"""
    CREATE FUNCTION outbox_purge(older_than interval, max_rows integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE {OWNED}
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_sort = off SET jit = off
    AS $$
    DECLARE
        young timestamptz := platform_now() - older_than;
        candidate record;
        old bigint[] := '{{}}';
        deleted integer;
    BEGIN
        FOR candidate IN
            SELECT o.position, o.created_at, o.discarded_at, q.position IS NOT NULL AS is_queued
            FROM outbox o LEFT JOIN outbox_queue q ON q.position = o.position
            ORDER BY o.position
            LIMIT 100 * max_rows
        LOOP
            EXIT WHEN candidate.created_at >= young OR cardinality(old) >= max_rows;
            IF NOT candidate.is_queued AND coalesce(candidate.discarded_at < young, true) THEN
                old := old || candidate.position;
            END IF;
        END LOOP;
        DELETE FROM outbox o WHERE o.position = ANY (old);
        GET DIAGNOSTICS deleted = ROW_COUNT;
        RETURN deleted;
    END
    $$
"""
