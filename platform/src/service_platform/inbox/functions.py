"""The SQL functions of the inbox and the retry ledger (step 1) for deliveries and wake-ups, to the dead letter.

Each takes the lock of (consumer, source, key) before it looks, and keeps it to the end of the transaction; what it
reads, it reads by a later statement, so with a snapshot that sees what the lock's last holder committed. The protocol
with its races: docs/adr/0009-order-survives-a-retry.md.

Verdicts about a delivery: claimed, handled (in the inbox), retrying (the ledger owns it), buried (its dead letter was
not requeued), blocked (an earlier event of its key is in the ledger), stale (a wake-up that is over or too early).
"""

# ruff: noqa: S608 - the texts are put together from this file's constants only

from __future__ import annotations

OWNED = "SECURITY DEFINER SET search_path = pg_catalog, public"

TAKE_KEY_LOCK = "PERFORM pg_advisory_xact_lock(inbox_key_lock(for_consumer, for_source, for_key))"
THIS_EVENT = "consumer = for_consumer AND source = for_source AND event_id = for_event"
_KEY = "consumer = for_consumer AND source = for_source AND key = for_key"
_HEAD = f"(SELECT min(h.position) FROM retry_ledger h WHERE {_KEY})"

# What the caller has to send: the wake-up of the key's head, at `wake_at` or, when that is null, at once.
WAKE_UP_COLUMNS = "wake_event uuid, wake_attempts smallint, wake_at timestamptz"
WAKE_NEXT = """SELECT * INTO wake_event, wake_attempts, wake_at
        FROM retry_wake_head(for_consumer, for_source, for_key)"""

KEY_LOCK = """
    CREATE FUNCTION inbox_key_lock(for_consumer text, for_source text, for_key text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT hashtextextended(for_consumer || chr(31) || for_source || chr(31) || for_key, 1) $$
"""

# A delivery from the event's topic, as the first statement of its effect's transaction. The event of a requeued letter
# is in the ledger or in the inbox, which are asked before the letters.
CLAIM = f"""
    CREATE FUNCTION inbox_claim(for_consumer text, for_source text, for_key text, for_event uuid) RETURNS text
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        {TAKE_KEY_LOCK};
        INSERT INTO inbox (consumer, source, event_id, handled_at)
        VALUES (for_consumer, for_source, for_event, platform_now())
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN 'handled';
        END IF;
        RETURN CASE
            WHEN EXISTS (SELECT FROM retry_ledger WHERE {THIS_EVENT}) THEN 'retrying'
            WHEN EXISTS (SELECT FROM dead_letter WHERE {THIS_EVENT}) THEN 'buried'
            WHEN EXISTS (SELECT FROM retry_ledger WHERE {_KEY}) THEN 'blocked'
            ELSE 'claimed'
        END;
    END
    $$
"""

# Notes that the head is woken. No row when the key has none, or when its head is dead and holds it. The caller has
# the key's lock.
WAKE_HEAD = f"""
    CREATE FUNCTION retry_wake_head(for_consumer text, for_source text, for_key text) RETURNS TABLE ({WAKE_UP_COLUMNS})
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        UPDATE retry_ledger SET woken_at = greatest(due_at, (SELECT platform_now())), wakes = 1
        WHERE position = {_HEAD} AND held_at IS NULL
        RETURNING event_id, attempts, CASE WHEN woken_at = due_at THEN due_at END
    $$
"""

# A wake-up, as the first statement of its event's effect: row out, inbox in, the next one woken, or nothing at all.
CLAIM_RETRY = f"""
    CREATE FUNCTION inbox_claim_retry(
        for_consumer text, for_source text, for_key text, for_event uuid, for_attempts smallint
    ) RETURNS TABLE (verdict text, {WAKE_UP_COLUMNS})
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        {TAKE_KEY_LOCK};
        DELETE FROM retry_ledger
        WHERE position = {_HEAD} AND event_id = for_event AND attempts = for_attempts
          AND held_at IS NULL AND due_at <= platform_now();
        IF FOUND THEN
            INSERT INTO inbox (consumer, source, event_id, handled_at)
            VALUES (for_consumer, for_source, for_event, platform_now())
            ON CONFLICT DO NOTHING;
            verdict := CASE WHEN FOUND THEN 'claimed' ELSE 'handled' END;
            {WAKE_NEXT};
        ELSE
            verdict := 'stale';
        END IF;
        RETURN NEXT;
    END
    $$
"""

# An event whose key is blocked goes behind what blocks it; `free` says that nothing does any more.
APPEND = f"""
    CREATE FUNCTION retry_append(
        for_consumer text, for_source text, for_key text, for_event uuid,
        with_name text, with_headers text, with_payload bytea, with_origin text
    ) RETURNS text
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        {TAKE_KEY_LOCK};
        IF EXISTS (SELECT FROM inbox WHERE {THIS_EVENT}) THEN
            RETURN 'handled';
        ELSIF EXISTS (SELECT FROM retry_ledger WHERE {THIS_EVENT}) THEN
            RETURN 'retrying';
        ELSIF EXISTS (SELECT FROM dead_letter WHERE {THIS_EVENT}) THEN
            RETURN 'buried';
        ELSIF NOT EXISTS (SELECT FROM retry_ledger WHERE {_KEY}) THEN
            RETURN 'free';
        END IF;
        INSERT INTO retry_ledger (
            consumer, source, key, event_id, event_name, headers, payload, origin, attempts, due_at, created_at
        )
        SELECT for_consumer, for_source, for_key, for_event, with_name, with_headers::json, with_payload, with_origin,
               0, now, now
        FROM platform_now() AS now;
        RETURN 'retrying';
    END
    $$
"""

# The event took effect although the ledger has it: nothing is left to do but to let the next one go.
SETTLE = f"""
    CREATE FUNCTION retry_settle(for_consumer text, for_source text, for_key text, for_event uuid)
    RETURNS TABLE ({WAKE_UP_COLUMNS})
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        {TAKE_KEY_LOCK};
        DELETE FROM retry_ledger WHERE {THIS_EVENT} AND EXISTS (SELECT FROM inbox WHERE {THIS_EVENT});
        IF FOUND THEN
            {WAKE_NEXT};
            RETURN NEXT;
        END IF;
    END
    $$
"""

# `for_attempts` is what the ledger said when the failed run began, null for a delivery from the event's topic. An
# event has `max_attempts` in all; 0 buries it at once. `hold` keeps a dead one at the head of its key.
FAIL = f"""
    CREATE FUNCTION retry_fail(
        for_consumer text, for_source text, for_key text, for_event uuid,
        with_name text, with_headers text, with_payload bytea, with_origin text,
        for_attempts smallint, max_attempts integer, pause interval, hold boolean, with_error text
    ) RETURNS TABLE (verdict text, failures smallint, letter uuid, {WAKE_UP_COLUMNS})
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        now timestamptz;
        known retry_ledger%ROWTYPE;
        failed jsonb;
        is_dead boolean;
    BEGIN
        {TAKE_KEY_LOCK};
        now := platform_now();
        SELECT * INTO known FROM retry_ledger WHERE {THIS_EVENT};
        verdict := CASE
            WHEN EXISTS (SELECT FROM inbox WHERE {THIS_EVENT}) THEN 'handled'
            WHEN for_attempts IS NULL AND known.position IS NOT NULL THEN 'retrying'
            WHEN for_attempts IS NOT NULL AND (
                known.position IS NULL OR known.position IS DISTINCT FROM {_HEAD}
                OR known.attempts <> for_attempts
            ) THEN 'stale'
            WHEN EXISTS (SELECT FROM dead_letter WHERE {THIS_EVENT} AND state <> 'requeued') THEN 'buried'
        END;
        IF verdict IS NOT NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;
        failures := coalesce(known.attempts, 0) + 1;
        failed := jsonb_build_object('attempt', failures, 'at', now, 'error', with_error);
        is_dead := failures >= max_attempts;
        IF is_dead THEN
            INSERT INTO dead_letter (
                consumer, source, key, event_id, event_name, headers, payload, origin, attempts, history, error, died_at
            )
            VALUES (
                for_consumer, for_source, for_key, for_event, with_name, with_headers::json, with_payload, with_origin,
                failures, coalesce(known.history, '[]') || failed, with_error, now
            )
            ON CONFLICT (consumer, source, event_id) DO UPDATE
            SET state = 'dead', attempts = excluded.attempts, history = dead_letter.history || excluded.history,
                error = excluded.error, died_at = excluded.died_at, resolved_at = NULL
            RETURNING id INTO letter;
        END IF;
        IF is_dead AND NOT hold THEN
            DELETE FROM retry_ledger WHERE {THIS_EVENT};
        ELSE
            INSERT INTO retry_ledger (
                consumer, source, key, event_id, event_name, headers, payload, origin,
                attempts, due_at, created_at, history, held_at
            )
            VALUES (
                for_consumer, for_source, for_key, for_event, with_name, with_headers::json, with_payload, with_origin,
                failures, now + pause, now, jsonb_build_array(failed), CASE WHEN is_dead THEN now END
            )
            ON CONFLICT (consumer, source, event_id) DO UPDATE
            SET attempts = excluded.attempts, due_at = excluded.due_at, held_at = excluded.held_at,
                history = retry_ledger.history || excluded.history;
        END IF;
        verdict := CASE WHEN is_dead THEN 'buried' ELSE 'retrying' END;
        {WAKE_NEXT};
        RETURN NEXT;
    END
    $$
"""

# A record whose headers name no event for any consumer. Known again by its place in the log.
BURY_NAMELESS = f"""
    CREATE FUNCTION dead_letter_bury_nameless(
        with_key text, with_headers text, with_payload bytea, with_origin text, with_error text
    ) RETURNS uuid
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        INSERT INTO dead_letter (
            consumer, source, key, event_name, headers, payload, origin, attempts, history, error, died_at
        )
        SELECT '', '', with_key, '', with_headers::json, with_payload, with_origin, 0, '[]', with_error, platform_now()
        ON CONFLICT (origin) WHERE event_id IS NULL DO NOTHING
        RETURNING id
    $$
"""

# Heads that are due and whose wake-up nobody obeyed: it was lost, or nobody knew their consumer. Only a head ever has
# `woken_at`. It changes nothing that a decision rests on, so it needs no key's lock.
WAKE_OVERDUE = f"""
    CREATE FUNCTION retry_wake_overdue(max_rows integer, first_wait interval) RETURNS TABLE (
        for_consumer text, for_source text, for_key text, {WAKE_UP_COLUMNS}
    )
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        UPDATE retry_ledger r SET woken_at = o.now, wakes = least(r.wakes + 1, 7)
        FROM (
            SELECT w.position, c.now
            FROM (SELECT platform_now() AS now OFFSET 0) AS c
            JOIN retry_ledger w ON w.woken_at < c.now - first_wait
            WHERE w.held_at IS NULL AND w.woken_at < c.now - first_wait * (2 ^ (w.wakes - 1))
            ORDER BY w.woken_at
            LIMIT max_rows
            FOR UPDATE OF w SKIP LOCKED
        ) AS o
        WHERE r.position = o.position
        RETURNING r.consumer, r.source, r.key, r.event_id, r.attempts, NULL::timestamptz
    $$
"""
