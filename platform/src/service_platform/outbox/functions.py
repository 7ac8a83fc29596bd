"""The SQL functions of the outbox (step 1) that publishers and relays call.

They run as the tables' owner with a fixed search path, on the platform's clock.
"""

# ruff: noqa: S608 - the texts are put together from this file's constants only

from __future__ import annotations

SHARDS = 32  # how many relays can share one channel; part of the data, since `shard` is stored
SHARDS_A_PASS = 16  # a relay leaves shards for others while it delivers

OWNED = "SECURITY DEFINER SET search_path = pg_catalog, public"
_ROW = '"position" bigint, ordering_key bigint, destination text, key text, headers json, payload bytea'
_NOT_HELD = """NOT EXISTS (
                    SELECT FROM outbox_queue h
                    WHERE h.channel = q.channel AND h.ordering_key = q.ordering_key AND h.position < q.position
                      AND h.error IS NOT NULL
                )"""

# Nearly always nothing is held at all, which one look at an empty index says for every row.
_NOT_HELD_IF_ANY_IS = f"""(
                (SELECT NOT EXISTS (SELECT FROM outbox_queue a WHERE a.channel = for_channel AND a.error IS NOT NULL))
                OR {_NOT_HELD}
              )"""

ORDERING_KEY = """
    CREATE FUNCTION outbox_ordering_key(destination text, consumer text, key text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT hashtextextended(destination || chr(31) || consumer || chr(31) || key, 0) $$
"""

# Locks first, in one order for everybody; numbers after, in the order of the code. See append.OutboxPart for what this
# guarantees.
APPEND = f"""
    CREATE FUNCTION outbox_append(
        channels text[], destinations text[], consumers text[], keys text[],
        message_ids uuid[], header_sets text[], payloads bytea[], not_befores timestamptz[]
    ) RETURNS void
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        locked bigint;
        positions bigint[];
    BEGIN
        FOR locked IN
            SELECT DISTINCT outbox_ordering_key(m.destination, m.consumer, m.key) AS hashed
            FROM unnest(destinations, consumers, keys) AS m (destination, consumer, key)
            ORDER BY hashed
        LOOP
            PERFORM pg_advisory_xact_lock(locked);
        END LOOP;
        WITH written AS (
            INSERT INTO outbox (channel, destination, consumer, key, message_id, headers, payload, created_at)
            SELECT m.channel, m.destination, m.consumer, m.key, m.message_id, m.headers::json, m.payload,
                   (SELECT platform_now())
            FROM unnest(channels, destinations, consumers, keys, message_ids, header_sets, payloads)
                WITH ORDINALITY AS m (channel, destination, consumer, key, message_id, headers, payload, ordinal)
            ORDER BY m.ordinal
            RETURNING outbox.position
        )
        SELECT array_agg(w.position ORDER BY w.position) INTO positions FROM written w;
        INSERT INTO outbox_queue (position, channel, destination, ordering_key, shard, not_before, bytes)
        SELECT positions[m.ordinal], m.channel, m.destination, k.hashed, k.hashed & {SHARDS - 1},
               coalesce(m.not_before, '-infinity'), octet_length(m.headers) + octet_length(m.payload)
        FROM unnest(channels, destinations, consumers, keys, header_sets, payloads, not_befores)
            WITH ORDINALITY AS m (channel, destination, consumer, key, headers, payload, not_before, ordinal)
        CROSS JOIN LATERAL outbox_ordering_key(m.destination, m.consumer, m.key) AS k (hashed);
    END
    $$
"""

# What a pass sends: the due rows of shards that nobody else holds, of half of all shards at most, with how many shards
# these are. The locks are held to the end of the relay's transaction. Which are tried first is random, so that relays
# side by side seldom ask for the same ones.
#
# VOLATILE is a guarantee here: each statement of such a function has a snapshot of its own, so the one that reads is
# younger than the locks and sees what their last holder took out.
#
# From each shard comes the head of its queue, cut where its share of the rows or bytes is used up, but one row at
# least: never a row without those before it. Within a key rows go by position; a deferred row takes its place when it
# is due. The result has no order.
TAKE = f"""
    CREATE FUNCTION outbox_take(for_channel text, most_rows integer, most_bytes integer, resting text[])
    RETURNS TABLE ({_ROW}, shards integer)
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        due timestamptz := platform_now();
        candidate integer;
        taken smallint[] := '{{}}';
    BEGIN
        FOR candidate IN
            SELECT s FROM generate_series(0, {SHARDS - 1}) AS s
            WHERE EXISTS (
                SELECT FROM outbox_queue q
                WHERE q.channel = for_channel AND q.shard = s::smallint AND q.not_before <= due AND q.error IS NULL
            )
            ORDER BY random()
        LOOP
            IF pg_try_advisory_xact_lock(hashtext('outbox ' || for_channel), candidate) THEN
                taken := taken || candidate::smallint;
                EXIT WHEN cardinality(taken) = {SHARDS_A_PASS};
            END IF;
        END LOOP;
        shards := cardinality(taken);
        IF shards = 0 THEN
            RETURN;
        END IF;
        due := platform_now();
        RETURN QUERY
        SELECT r.position, r.ordering_key, r.destination, o.key, o.headers, o.payload, shards
        FROM unnest(taken) AS s (shard)
        CROSS JOIN LATERAL (
            SELECT q.position, q.ordering_key, q.destination,
                   sum(q.bytes) OVER (ORDER BY q.not_before, q.position ROWS UNBOUNDED PRECEDING) - q.bytes AS before
            FROM outbox_queue q
            WHERE q.channel = for_channel AND q.shard = s.shard AND q.not_before <= due
              AND q.error IS NULL AND q.destination <> ALL (resting)
              AND {_NOT_HELD_IF_ANY_IS}
            ORDER BY q.not_before, q.position
            LIMIT 1 + most_rows / shards
        ) AS r
        JOIN outbox o ON o.position = r.position
        WHERE r.before <= most_bytes / shards;
    END
    $$
"""

# One suspect whose turn has come, under its shard's lock, read again after the lock.
TAKE_SUSPECT = f"""
    CREATE FUNCTION outbox_take_suspect(for_channel text, resting text[]) RETURNS TABLE ({_ROW})
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        due timestamptz := platform_now();
        candidate record;
    BEGIN
        FOR candidate IN
            SELECT q.position, q.shard FROM outbox_queue q
            WHERE q.channel = for_channel AND q.error IS NOT NULL AND q.parked_at IS NULL
              AND q.not_before <= due AND q.destination <> ALL (resting) AND {_NOT_HELD}
            ORDER BY q.position
            LIMIT 100
        LOOP
            IF pg_try_advisory_xact_lock(hashtext('outbox ' || for_channel), candidate.shard::integer) THEN
                RETURN QUERY
                SELECT q.position, q.ordering_key, q.destination, o.key, o.headers, o.payload
                FROM outbox_queue q
                JOIN outbox o ON o.position = q.position
                WHERE q.position = candidate.position AND q.error IS NOT NULL AND q.parked_at IS NULL
                  AND q.not_before <= due AND {_NOT_HELD};
                EXIT WHEN FOUND;
            END IF;
        END LOOP;
    END
    $$
"""

# Sent is what has left the queue: the narrow row goes, the wide one is not touched.
MARK_SENT = f"""
    CREATE FUNCTION outbox_mark_sent(positions bigint[]) RETURNS void
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        DELETE FROM outbox_queue WHERE position = ANY (positions)
    $$
"""

MARK_SUSPECT = f"""
    CREATE FUNCTION outbox_mark_suspect(positions bigint[], errors text[]) RETURNS void
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        UPDATE outbox_queue q SET error = r.error
        FROM unnest(positions, errors) AS r (position, error)
        WHERE q.position = r.position AND q.error IS NULL
    $$
"""

# The verdict on a row that was sent alone: counted, tried again later, parked at the limit.
REFUSE = f"""
    CREATE FUNCTION outbox_refuse(refused bigint, reason text, max_tries smallint, pause interval) RETURNS boolean
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        UPDATE outbox_queue
        SET tries = tries + 1,
            error = reason,
            not_before = (SELECT platform_now()) + pause,
            parked_at = CASE WHEN tries + 1 >= max_tries THEN (SELECT platform_now()) END
        WHERE position = refused AND error IS NOT NULL AND parked_at IS NULL
        RETURNING parked_at IS NOT NULL
    $$
"""

# Seconds until a row is due (0: now), null when none is waiting: the one statement of an idle relay.
NEXT_DUE = f"""
    CREATE FUNCTION outbox_next_due(for_channel text) RETURNS double precision
    LANGUAGE sql VOLATILE {OWNED}
    AS $$
        SELECT extract(epoch FROM greatest(min(w.due), c.now) - c.now)::double precision
        FROM (SELECT platform_now() AS now OFFSET 0) AS c
        LEFT JOIN (
            SELECT p.not_before AS due
            FROM generate_series(0, {SHARDS - 1}) AS s
            CROSS JOIN LATERAL (
                SELECT q.not_before FROM outbox_queue q
                WHERE q.channel = for_channel AND q.shard = s::smallint AND q.error IS NULL
                ORDER BY q.not_before
                LIMIT 1
            ) AS p
            UNION ALL
            SELECT min(q.not_before) FROM outbox_queue q
            WHERE q.channel = for_channel AND q.error IS NOT NULL AND q.parked_at IS NULL
        ) AS w ON w.due IS NOT NULL
        GROUP BY c.now
        HAVING min(w.due) IS NOT NULL
    $$
"""
