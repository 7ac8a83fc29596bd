"""The SQL functions of the outbox (step 1).

They run as the table's owner with a fixed search path, on the platform's clock. Those that read the backlog forbid
plans that would be right for the table's statistics of a minute ago and ruinous for the backlog of now.
"""

# ruff: noqa: S608 - the texts are put together from this file's constants only

from __future__ import annotations

SHARDS = 32  # how many relays can share one channel; part of the data, since `shard` is stored
SHARDS_A_PASS = 16  # a relay leaves shards for others while it delivers

_OWNED = "SECURITY DEFINER SET search_path = pg_catalog, public"
_BY_INDEX = "SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan"
_ROW = """(
        "position" bigint, destination text, consumer text, key text, message_id uuid, headers text, payload bytea
    )"""
_NOT_HELD = """NOT EXISTS (
                    SELECT FROM outbox h
                    WHERE h.channel = o.channel AND h.destination = o.destination AND h.consumer = o.consumer
                      AND h.key = o.key AND h.position < o.position
                      AND h.sent_at IS NULL AND h.error IS NOT NULL
                )"""

ORDERING_KEY = """
    CREATE FUNCTION outbox_ordering_key(destination text, consumer text, key text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT hashtextextended(destination || chr(31) || consumer || chr(31) || key, 0) $$
"""

# Locks first, in one order for everybody; numbers after. See append.OutboxPart for what this guarantees.
APPEND = f"""
    CREATE FUNCTION outbox_append(
        channels text[], destinations text[], consumers text[], keys text[],
        message_ids uuid[], header_sets text[], payloads bytea[], not_befores timestamptz[]
    ) RETURNS void
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    DECLARE
        ordering_key bigint;
    BEGIN
        FOR ordering_key IN
            SELECT DISTINCT outbox_ordering_key(m.destination, m.consumer, m.key) AS hashed
            FROM unnest(destinations, consumers, keys) AS m (destination, consumer, key)
            ORDER BY hashed
        LOOP
            PERFORM pg_advisory_xact_lock(ordering_key);
        END LOOP;
        INSERT INTO outbox (
            channel, destination, consumer, key, shard, message_id, headers, payload, not_before, created_at
        )
        SELECT m.channel, m.destination, m.consumer, m.key,
               outbox_ordering_key(m.destination, m.consumer, m.key) & {SHARDS - 1},
               m.message_id, m.headers::json, m.payload, coalesce(m.not_before, '-infinity'), (SELECT platform_now())
        FROM unnest(
            channels, destinations, consumers, keys, message_ids, header_sets, payloads, not_befores
        ) WITH ORDINALITY AS m (
            channel, destination, consumer, key, message_id, headers, payload, not_before, ordinal
        )
        ORDER BY m.ordinal;
    END
    $$
"""

# The shard locks are held to the end of the relay's transaction. The rows are read by a later statement than the
# lock is taken by, so with a snapshot that sees what the lock's last holder marked. Which shards are tried first is
# random, so that relays side by side seldom ask for the same ones. From each shard comes the head of its queue, cut
# where its share of `max_rows` or of `max_bytes` is used up, but one row at least: never a row without those before
# it. Within a key rows go by position; a deferred row takes its place when it is due. The result has no order.
TAKE = f"""
    CREATE FUNCTION outbox_take(
        for_channel text, max_rows integer, max_bytes bigint, resting text[]
    ) RETURNS TABLE {_ROW}
    LANGUAGE plpgsql VOLATILE {_OWNED} {_BY_INDEX}
    AS $$
    DECLARE
        due timestamptz := platform_now();
        candidate integer;
        mine integer[] := '{{}}';
    BEGIN
        FOR candidate IN
            SELECT s FROM generate_series(0, {SHARDS - 1}) AS s
            WHERE EXISTS (
                SELECT FROM outbox o
                WHERE o.channel = for_channel AND o.shard = s::smallint AND o.not_before <= due
                  AND o.sent_at IS NULL AND o.error IS NULL
            )
            ORDER BY random()
        LOOP
            IF pg_try_advisory_xact_lock(hashtext('outbox ' || for_channel), candidate) THEN
                mine := mine || candidate;
                EXIT WHEN cardinality(mine) = {SHARDS_A_PASS};
            END IF;
        END LOOP;
        IF mine = '{{}}' THEN
            RETURN;
        END IF;
        RETURN QUERY
        SELECT r.position, r.destination, r.consumer, r.key, r.message_id, r.headers::text, r.payload
        FROM unnest(mine) AS s
        CROSS JOIN LATERAL (
            SELECT o.position, o.destination, o.consumer, o.key, o.message_id, o.headers, o.payload,
                   sum(octet_length(o.payload)) OVER (
                       ORDER BY o.not_before, o.position ROWS UNBOUNDED PRECEDING
                   ) - octet_length(o.payload) AS bytes_before
            FROM outbox o
            WHERE o.channel = for_channel AND o.shard = s::smallint AND o.not_before <= due
              AND o.sent_at IS NULL AND o.error IS NULL
              AND o.destination <> ALL (resting)
              AND {_NOT_HELD}
            ORDER BY o.not_before, o.position
            LIMIT 1 + max_rows / cardinality(mine)
        ) AS r
        WHERE r.bytes_before <= max_bytes / cardinality(mine);
    END
    $$
"""

# One suspect row whose turn has come, under its shard's lock, read again after the lock.
TAKE_SUSPECT = f"""
    CREATE FUNCTION outbox_take_suspect(for_channel text, resting text[]) RETURNS TABLE {_ROW}
    LANGUAGE plpgsql VOLATILE {_OWNED} {_BY_INDEX}
    AS $$
    DECLARE
        due timestamptz := platform_now();
        candidate record;
    BEGIN
        FOR candidate IN
            SELECT o.position, o.shard FROM outbox o
            WHERE o.channel = for_channel AND o.sent_at IS NULL AND o.error IS NOT NULL AND o.parked_at IS NULL
              AND o.not_before <= due AND o.destination <> ALL (resting) AND {_NOT_HELD}
            ORDER BY o.position
            LIMIT 100
        LOOP
            IF pg_try_advisory_xact_lock(hashtext('outbox ' || for_channel), candidate.shard::integer) THEN
                RETURN QUERY
                SELECT o.position, o.destination, o.consumer, o.key, o.message_id, o.headers::text, o.payload
                FROM outbox o
                WHERE o.position = candidate.position
                  AND o.sent_at IS NULL AND o.error IS NOT NULL AND o.parked_at IS NULL
                  AND o.not_before <= due AND {_NOT_HELD};
                EXIT WHEN FOUND;
            END IF;
        END LOOP;
    END
    $$
"""

MARK_SENT = f"""
    CREATE FUNCTION outbox_mark_sent(positions bigint[]) RETURNS void
    LANGUAGE sql VOLATILE {_OWNED}
    AS $$
        UPDATE outbox SET sent_at = (SELECT platform_now()), error = NULL
        WHERE position = ANY (positions) AND sent_at IS NULL
    $$
"""

MARK_SUSPECT = f"""
    CREATE FUNCTION outbox_mark_suspect(positions bigint[], errors text[]) RETURNS void
    LANGUAGE sql VOLATILE {_OWNED}
    AS $$
        UPDATE outbox o SET error = r.error
        FROM unnest(positions, errors) AS r (position, error)
        WHERE o.position = r.position AND o.sent_at IS NULL AND o.error IS NULL
    $$
"""

# The verdict on a row that was sent alone: counted, tried again later, parked at the limit.
REFUSE = f"""
    CREATE FUNCTION outbox_refuse(refused bigint, reason text, max_tries smallint, pause interval) RETURNS boolean
    LANGUAGE sql VOLATILE {_OWNED}
    AS $$
        UPDATE outbox
        SET tries = tries + 1,
            error = reason,
            not_before = (SELECT platform_now()) + pause,
            parked_at = CASE WHEN tries + 1 >= max_tries THEN (SELECT platform_now()) END
        WHERE position = refused AND sent_at IS NULL AND error IS NOT NULL AND parked_at IS NULL
        RETURNING parked_at IS NOT NULL
    $$
"""

# Seconds until a row is due (0: now), null when none is waiting: the one statement of an idle relay.
NEXT_DUE = f"""
    CREATE FUNCTION outbox_next_due(for_channel text) RETURNS double precision
    LANGUAGE sql VOLATILE {_OWNED} {_BY_INDEX}
    AS $$
        SELECT extract(epoch FROM greatest(min(w.due), c.now) - c.now)::double precision
        FROM (SELECT platform_now() AS now OFFSET 0) AS c
        LEFT JOIN (
            SELECT p.not_before AS due
            FROM generate_series(0, {SHARDS - 1}) AS s
            CROSS JOIN LATERAL (
                SELECT o.not_before FROM outbox o
                WHERE o.channel = for_channel AND o.shard = s::smallint AND o.sent_at IS NULL AND o.error IS NULL
                ORDER BY o.not_before
                LIMIT 1
            ) AS p
            UNION ALL
            SELECT min(o.not_before) FROM outbox o
            WHERE o.channel = for_channel AND o.sent_at IS NULL AND o.error IS NOT NULL AND o.parked_at IS NULL
        ) AS w ON w.due IS NOT NULL
        GROUP BY c.now
        HAVING min(w.due) IS NOT NULL
    $$
"""
