"""The SQL functions of the job table (step 1) for those who enqueue and run jobs.

They run as the table's owner with a fixed search path. Each reads the platform's clock where it is needed: by the
time a row's lock is had, the start of the statement may lie far back, so `platform_now()` stands in the row's own
expressions and is read again when the row is looked at again after a wait.
"""

# ruff: noqa: S608 - what is put into these texts are the constants of this file
from __future__ import annotations

# Every access is by an index. A plan made while the table was small would read all of it, and sessions keep plans. What
# has no index, the clock, then looks so dear that PostgreSQL would compile it, three times a claim, where a session
# has not turned that off: a pool's has, the lease keeper's and a person's have not.
OWNED = "SECURITY DEFINER SET search_path = pg_catalog, public SET enable_seqscan = off SET jit = off"

# A job whose outbox row is not delivered yet is safe there; this is for the row that a person had to discard.
_UNDISPATCHED_WAIT = "interval '15 minutes'"

# ON CONFLICT waits for a transaction that holds the key: if that one rolls back, this one inserts; if it commits, the
# next statement has a snapshot that sees its row. The loop is for a job that is purged between the two.
ENQUEUE = f"""
    CREATE FUNCTION job_enqueue(
        new_id uuid, new_kind text, new_key text, new_payload text, new_correlation_id text, new_traceparent text
    ) RETURNS uuid
    LANGUAGE plpgsql VOLATILE {OWNED}
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

# One statement decides and takes. The token is raised in the dying branches, too, so that a run that stalled at its
# last claim, or that was asked to end, is fenced out as any other. Whether a cancel is asked for, how often the job
# was claimed and how often its runs ended without a word is in the row alone, so the branches cannot disagree with each
# other as two looks at the clock could. A row that is still running when it is claimed is the trace of such a run: who
# fails, hands back or sets aside has left another status, and has set the count back.
_GOES_ON = "j.cancel_requested_at IS NULL AND j.claims < max_claims"
_ENDS_AS = "CASE WHEN j.cancel_requested_at IS NULL THEN 'dead' ELSE 'cancelled' END"
_SILENT_RUNS = "(j.silent_runs + (j.status = 'running')::integer)"
_RUNS = f"{_GOES_ON} AND {_SILENT_RUNS} < max_silent_runs"
CLAIM = f"""
    CREATE FUNCTION job_claim(
        job_id uuid, of_kind text, by_worker text, lease_seconds double precision, max_claims integer,
        max_silent_runs integer
    ) RETURNS TABLE (
        status text, token bigint, claims integer, silent_runs integer, current_step text, payload text,
        correlation_id text, traceparent text
    )
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        RETURN QUERY
        UPDATE job j
        SET token = j.token + 1,
            status = CASE WHEN {_RUNS} THEN 'running' ELSE {_ENDS_AS} END,
            claims = j.claims + CASE WHEN {_RUNS} THEN 1 ELSE 0 END,
            silent_runs = {_SILENT_RUNS},
            claimed_by = CASE WHEN {_RUNS} THEN by_worker ELSE j.claimed_by END,
            lease_expires_at = CASE WHEN {_RUNS} THEN platform_now() + make_interval(secs => lease_seconds) END,
            started_at = coalesce(j.started_at, platform_now()),
            finished_at = CASE WHEN {_RUNS} THEN NULL ELSE platform_now() END,
            dispatched_at = NULL,
            resend_at = platform_now(),
            resends = 0,
            error = CASE
                WHEN NOT ({_RUNS}) AND j.status = 'running'
                THEN format(
                    'Claimed %s times; %s in a row ended without a word, the last one in %s, which died or stalled.',
                    j.claims, {_SILENT_RUNS}, j.claimed_by
                )
                ELSE j.error
            END
        WHERE j.id = job_id AND j.kind = of_kind
          AND (
              (j.status IN ('pending', 'failed') AND j.run_after <= platform_now())
              OR (j.status = 'running' AND j.lease_expires_at <= platform_now())
          )
        RETURNING j.status, j.token, j.claims, j.silent_runs, j.current_step, j.payload::text, j.correlation_id,
                  j.traceparent;
    END
    $$
"""

ADVANCE = f"""
    CREATE FUNCTION job_advance(
        job_id uuid, to_step text, expected_token bigint, lease_seconds double precision
    ) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        UPDATE job j
        SET current_step = to_step, lease_expires_at = platform_now() + make_interval(secs => lease_seconds)
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token;
        RETURN FOUND;
    END
    $$
"""

# Returns 'held', or 'cancel' when somebody asked for it; null when the run does not own the job.
RENEW = f"""
    CREATE FUNCTION job_renew(job_id uuid, expected_token bigint, lease_seconds double precision) RETURNS text
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        verdict text;
    BEGIN
        UPDATE job j
        SET lease_expires_at = platform_now() + make_interval(secs => lease_seconds)
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token
        RETURNING CASE WHEN j.cancel_requested_at IS NULL THEN 'held' ELSE 'cancel' END INTO verdict;
        RETURN verdict;
    END
    $$
"""

# A run that got to its end is done, also when somebody asked for a cancel meanwhile: what it did is done.
COMPLETE = f"""
    CREATE FUNCTION job_complete(job_id uuid, expected_token bigint) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        UPDATE job j
        SET status = 'done', silent_runs = 0, lease_expires_at = NULL, finished_at = platform_now(), error = NULL
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token;
        RETURN FOUND;
    END
    $$
"""

# This and the next return the status that the job has now; null when the run does not own it.
FAIL = f"""
    CREATE FUNCTION job_fail(
        job_id uuid, expected_token bigint, what text, retry_in_seconds double precision, max_claims integer
    ) RETURNS text
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        verdict text;
    BEGIN
        UPDATE job j
        SET status = CASE WHEN {_GOES_ON} THEN 'failed' ELSE {_ENDS_AS} END,
            silent_runs = 0, lease_expires_at = NULL,
            run_after = platform_now() + make_interval(secs => retry_in_seconds),
            resend_at = platform_now() + make_interval(secs => retry_in_seconds),
            dispatched_at = NULL,
            finished_at = CASE WHEN {_GOES_ON} THEN NULL ELSE platform_now() END,
            error = left(what, 8000)
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token
        RETURNING j.status INTO verdict;
        RETURN verdict;
    END
    $$
"""

RELEASE = f"""
    CREATE FUNCTION job_release(job_id uuid, expected_token bigint) RETURNS text
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        verdict text;
    BEGIN
        UPDATE job j
        SET status = CASE WHEN j.cancel_requested_at IS NULL THEN 'pending' ELSE 'cancelled' END,
            claims = j.claims - 1, silent_runs = 0, lease_expires_at = NULL, claimed_by = NULL,
            run_after = platform_now(), resend_at = platform_now(), dispatched_at = NULL,
            finished_at = CASE WHEN j.cancel_requested_at IS NULL THEN NULL ELSE platform_now() END
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token
        RETURNING j.status INTO verdict;
        RETURN verdict;
    END
    $$
"""

# A cancel does not change this: what no machine can decide stays open for a person.
REVIEW = f"""
    CREATE FUNCTION job_review(job_id uuid, expected_token bigint, why text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        UPDATE job j
        SET status = 'needs_review', review_reason = left(why, 8000), silent_runs = 0, lease_expires_at = NULL,
            finished_at = platform_now()
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token;
        RETURN FOUND;
    END
    $$
"""

# The run ends where it was asked to. Only a request makes this true: a run cannot cancel its job by itself.
CANCEL = f"""
    CREATE FUNCTION job_cancel(job_id uuid, expected_token bigint) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        UPDATE job j
        SET status = 'cancelled', lease_expires_at = NULL, finished_at = platform_now()
        WHERE j.id = job_id AND j.status = 'running' AND j.token = expected_token
          AND j.cancel_requested_at IS NOT NULL;
        RETURN FOUND;
    END
    $$
"""
