"""The SQL functions of the dead letters and the inbox (step 1) for operators and upkeep."""

# ruff: noqa: S608 - the texts are put together from constants only

from __future__ import annotations

from .functions import OWNED, TAKE_KEY_LOCK, THIS_EVENT, WAKE_NEXT, WAKE_UP_COLUMNS

# Takes the key's lock, and reads the letter again after it. Verdicts: requeued, handled (the inbox has it, nothing is
# run), nameless (no consumer to give it to), `was requeued`, `was discarded`; null for no such letter.
REQUEUE = f"""
    CREATE FUNCTION dead_letter_requeue(letter uuid) RETURNS TABLE (
        verdict text, for_consumer text, for_source text, for_key text, {WAKE_UP_COLUMNS}
    )
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        for_event uuid;
        now timestamptz;
    BEGIN
        SELECT d.consumer, d.source, d.key, d.event_id INTO for_consumer, for_source, for_key, for_event
        FROM dead_letter d WHERE d.id = letter;
        {TAKE_KEY_LOCK};
        now := platform_now();
        SELECT CASE WHEN d.state <> 'dead' THEN 'was ' || d.state WHEN d.event_id IS NULL THEN 'nameless' END
        INTO verdict FROM dead_letter d WHERE d.id = letter;
        IF NOT FOUND OR verdict IS NOT NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;
        UPDATE dead_letter SET state = 'requeued', resolved_at = now WHERE id = letter;
        IF EXISTS (SELECT FROM inbox WHERE {THIS_EVENT}) THEN
            DELETE FROM retry_ledger WHERE {THIS_EVENT};
            verdict := 'handled';
        ELSE
            INSERT INTO retry_ledger (
                consumer, source, key, event_id, event_name, headers, payload, origin, attempts, due_at, created_at
            )
            SELECT d.consumer, d.source, d.key, d.event_id, d.event_name, d.headers, d.payload, d.origin, 0, now, now
            FROM dead_letter d WHERE d.id = letter
            ON CONFLICT (consumer, source, event_id) DO UPDATE
            SET attempts = 0, due_at = excluded.due_at, held_at = NULL, history = '[]';
            verdict := 'requeued';
        END IF;
        {WAKE_NEXT};
        RETURN NEXT;
    END
    $$
"""

# Verdicts: discarded, `was requeued`, `was discarded`; null for no such letter.
DISCARD = f"""
    CREATE FUNCTION dead_letter_discard(letter uuid, why text) RETURNS TABLE (
        verdict text, for_consumer text, for_source text, for_key text, {WAKE_UP_COLUMNS}
    )
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        for_event uuid;
    BEGIN
        SELECT d.consumer, d.source, d.key, d.event_id INTO for_consumer, for_source, for_key, for_event
        FROM dead_letter d WHERE d.id = letter;
        {TAKE_KEY_LOCK};
        SELECT CASE WHEN d.state <> 'dead' THEN 'was ' || d.state END INTO verdict
        FROM dead_letter d WHERE d.id = letter;
        IF NOT FOUND OR verdict IS NOT NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;
        UPDATE dead_letter SET state = 'discarded', reason = why, resolved_at = platform_now() WHERE id = letter;
        DELETE FROM retry_ledger WHERE {THIS_EVENT};
        verdict := 'discarded';
        {WAKE_NEXT};
        RETURN NEXT;
    END
    $$
"""

# What is older than every topic that could bring it again. A dead letter that waits for a person is never deleted.
PURGE = f"""
    CREATE FUNCTION inbox_purge(older_than interval, max_rows integer) RETURNS bigint
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        WITH handled AS (
            DELETE FROM inbox WHERE (consumer, source, event_id) IN (
                SELECT i.consumer, i.source, i.event_id FROM inbox i
                WHERE i.handled_at < (SELECT platform_now()) - older_than
                LIMIT max_rows
            )
            RETURNING 1
        ), resolved AS (
            DELETE FROM dead_letter WHERE id IN (
                SELECT d.id FROM dead_letter d
                WHERE d.state <> 'dead' AND d.resolved_at < (SELECT platform_now()) - older_than
                  AND NOT EXISTS (
                      SELECT FROM retry_ledger r
                      WHERE r.consumer = d.consumer AND r.source = d.source AND r.event_id = d.event_id
                  )
                LIMIT max_rows
            )
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM handled) + (SELECT count(*) FROM resolved)
    $$
"""
