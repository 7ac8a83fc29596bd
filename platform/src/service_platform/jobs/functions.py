"""The SQL functions that own the job table (step 1).

They run as the table's owner with a fixed search path. Each reads the platform's clock where it is needed: by the
time a row's lock is had, the start of the statement may lie far back, so `platform_now()` stands in the row's own
expressions and is read again when the row is looked at again after a wait.
"""

# ruff: noqa: S608 - what is put into these texts are the constants of this file
from __future__ import annotations

# Every access is by an index. A plan made while the table was small would read all of it, and sessions keep plans.
_OWNED = "SECURITY DEFINER SET search_path = pg_catalog, public SET enable_seqscan = off"

# A job whose outbox row is not delivered yet is safe there; this is for the row that a person had to discard.
_UNDISPATCHED_WAIT = "interval '15 minutes'"

# 1, 2, 4 ... 64 times the first wait: a lost hint is repaired soon, a long queue is not filled with doubles. The wait
# grows with the hints that were sent in vain, so the first one since the last claim counts for nothing.
_RESENDS = "j.resends + (j.dispatched_at IS NOT NULL)::integer"
_RESEND_AFTER = "make_interval(secs => resend_after * power(2, least({resends}, 6)))"

# ON CONFLICT waits for a transaction that holds the key: if that one rolls back, this one inserts; if it commits, the
# next statement has a snapshot that sees its row. The loop is for a job that is purged between the two.
ENQUEUE = f"""
    CREATE FUNCTION job_enqueue(
        new_id uuid, new_kind text, new_key text, new_payload text, new_correlation_id text, new_traceparent text
    ) RETURNS uuid
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    DECLARE
        at timestamptz := platform_now();
        found_id uuid;
    BEGIN
        LOOP
            INSERT INTO job (
                id, kind, job_key, status, payload, correlation_id, traceparent, created_at, run_after, resend_at
            )
            VALUES (
                new_id, new_kind, new_key, 'pending', new_payload::jsonb, new_correlation_id, new_traceparent, at, at,
                at + {_UNDISPATCHED_WAIT}
            )
            ON CONFLICT (job_key) DO NOTHING;
            IF FOUND THEN
                RETURN new_id;
            END IF;
            SELECT j.id INTO found_id FROM job j WHERE j.job_key = new_key;
            IF FOUND THEN
                RETURN found_id;
            END IF;
        END LOOP;
    END
    $$
"""

# One statement decides and takes. The token is raised in the dying branch, too, so that a run that stalled at its
# last claim is fenced out as any other.
CLAIM = f"""
    CREATE FUNCTION job_claim(
        job_id uuid, of_kind text, by_worker text, lease_seconds double precision, max_claims integer
    ) RETURNS TABLE (
        dead boolean, token bigint, claims integer, current_step text, payload text, correlation_id text,
        traceparent text
    )
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    BEGIN
        RETURN QUERY
        UPDATE job j
        SET token = j.token + 1,
            status = CASE WHEN j.claims < max_claims THEN 'running' ELSE 'dead' END,
            claims = j.claims + CASE WHEN j.claims < max_claims THEN 1 ELSE 0 END,
            claimed_by = CASE WHEN j.claims < max_claims THEN by_worker ELSE j.claimed_by END,
            lease_expires_at = CASE
                WHEN j.claims < max_claims THEN platform_now() + make_interval(secs => lease_seconds)
            END,
            started_at = coalesce(j.started_at, platform_now()),
            finished_at = CASE WHEN j.claims < max_claims THEN NULL ELSE platform_now() END,
            dispatched_at = NULL,
            resend_at = platform_now(),
            resends = 0,
            error = CASE
                WHEN j.claims >= max_claims AND j.status = 'running'
                THEN format('Claimed %s times; the last run ended without a word: %s died or stalled.',
                            j.claims, j.claimed_by)
                ELSE j.error
            END
        WHERE j.id = job_id AND j.kind = of_kind
          AND (
              (j.status IN ('pending', 'failed') AND j.run_after <= platform_now())
              OR (j.status = 'running' AND j.lease_expires_at <= platform_now())
          )
        RETURNING j.status = 'dead', j.token, j.claims, j.current_step, j.payload::text, j.correlation_id,
                  j.traceparent;
    END
    $$
"""

ADVANCE = f"""
    CREATE FUNCTION job_advance(
        job_id uuid, to_step text, expected_token bigint, lease_seconds double precision
    ) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    BEGIN
        UPDATE job j
        SET current_step = to_step, lease_expires_at = platform_now() + make_interval(secs => lease_seconds)
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token;
        RETURN FOUND;
    END
    $$
"""

RENEW = f"""
    CREATE FUNCTION job_renew(job_id uuid, expected_token bigint, lease_seconds double precision) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    BEGIN
        UPDATE job j
        SET lease_expires_at = platform_now() + make_interval(secs => lease_seconds)
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token;
        RETURN FOUND;
    END
    $$
"""

COMPLETE = f"""
    CREATE FUNCTION job_complete(job_id uuid, expected_token bigint) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    BEGIN
        UPDATE job j
        SET status = 'done', lease_expires_at = NULL, finished_at = platform_now(), error = NULL
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token;
        RETURN FOUND;
    END
    $$
"""

# Returns the status that the job has now; null when the run does not own it.
FAIL = f"""
    CREATE FUNCTION job_fail(
        job_id uuid, expected_token bigint, what text, retry_in_seconds double precision, max_claims integer
    ) RETURNS text
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    DECLARE
        verdict text;
    BEGIN
        UPDATE job j
        SET status = CASE WHEN j.claims < max_claims THEN 'failed' ELSE 'dead' END,
            lease_expires_at = NULL,
            run_after = platform_now() + make_interval(secs => retry_in_seconds),
            resend_at = platform_now() + make_interval(secs => retry_in_seconds),
            dispatched_at = NULL,
            finished_at = CASE WHEN j.claims < max_claims THEN NULL ELSE platform_now() END,
            error = left(what, 8000)
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token
        RETURNING j.status INTO verdict;
        RETURN verdict;
    END
    $$
"""

RELEASE = f"""
    CREATE FUNCTION job_release(job_id uuid, expected_token bigint) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    BEGIN
        UPDATE job j
        SET status = 'pending', claims = j.claims - 1, lease_expires_at = NULL, claimed_by = NULL,
            run_after = platform_now(), resend_at = platform_now(), dispatched_at = NULL
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token;
        RETURN FOUND;
    END
    $$
"""

# Skips a row that is being claimed at this instant: its hint did its work.
MARK_DISPATCHED = f"""
    CREATE FUNCTION job_mark_dispatched(job_ids uuid[], resend_after double precision) RETURNS void
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    DECLARE
        at timestamptz := platform_now();
    BEGIN
        UPDATE job j
        SET dispatched_at = at, resend_at = greatest(j.run_after, at) + {_RESEND_AFTER.format(resends="j.resends")}
        FROM (
            SELECT w.id FROM job w
            WHERE w.id = ANY (job_ids) AND w.status IN ('pending', 'failed')
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS waiting
        WHERE j.id = waiting.id AND j.status IN ('pending', 'failed');
    END
    $$
"""

# Any number of sweeps may run at once: each takes rows that no other holds, and no row twice within its wait. The
# UPDATE repeats the conditions under which the rows were picked.
SWEEP = f"""
    CREATE FUNCTION job_sweep(max_jobs integer, resend_after double precision) RETURNS integer
    LANGUAGE plpgsql VOLATILE {_OWNED}
    AS $$
    DECLARE
        at timestamptz := platform_now();
        picked uuid[];
        swept integer;
    BEGIN
        picked := ARRAY(
            SELECT r.id FROM job r
            WHERE r.status = 'running' AND r.lease_expires_at <= at AND r.resend_at <= at
            ORDER BY r.lease_expires_at
            LIMIT max_jobs
            FOR NO KEY UPDATE SKIP LOCKED
        ) || ARRAY(
            SELECT w.id FROM job w
            WHERE w.status IN ('pending', 'failed') AND w.resend_at <= at AND w.run_after <= at
            ORDER BY w.resend_at
            LIMIT max_jobs
            FOR NO KEY UPDATE SKIP LOCKED
        );
        IF picked = '{{}}' THEN
            RETURN 0;
        END IF;
        WITH sent AS (
            UPDATE job j
            SET dispatched_at = at, resends = {_RESENDS}, resend_at = at + {_RESEND_AFTER.format(resends=_RESENDS)}
            WHERE j.id = ANY (picked) AND j.resend_at <= at
              AND (
                  (j.status IN ('pending', 'failed') AND j.run_after <= at)
                  OR (j.status = 'running' AND j.lease_expires_at <= at)
              )
            RETURNING j.id, j.kind, j.job_key, j.correlation_id, j.traceparent
        ), appended AS (
            SELECT outbox_append(
                       array_agg('celery'::text),
                       array_agg(split_part(s.kind, '.', 1) || '.jobs'),
                       array_agg(''::text),
                       array_agg(s.id::text),
                       array_agg(gen_random_uuid()),
                       array_agg(jsonb_strip_nulls(jsonb_build_object(
                           'correlation_id', s.correlation_id, 'traceparent', s.traceparent
                       ))::text),
                       array_agg(convert_to(jsonb_build_object(
                           'kind', s.kind, 'job_id', s.id, 'job_key', s.job_key
                       )::text, 'UTF8')),
                       array_agg(NULL::timestamptz)
                   ), count(*) AS jobs
            FROM sent s
            HAVING count(*) > 0
        )
        SELECT a.jobs INTO swept FROM appended a;
        RETURN coalesce(swept, 0);
    END
    $$
"""
