"""The SQL functions of the job table (step 1) for operators and upkeep.

What no run may do stands here: none of them is given a token, and none touches a job that a run owns, but for leaving
it the request to end.
"""

# ruff: noqa: S608 - what is put into these texts are constants of this module
from __future__ import annotations

from .functions import OWNED

# Returns the status that the job has now: 'cancelled' where nobody works on it, 'running' where the request waits for
# the run; null where the job is finished, or there is none. The row is locked first, so that the clock is read once
# and no earlier than the lock is had.
REQUEST_CANCEL = f"""
    CREATE FUNCTION job_request_cancel(job_id uuid, why text) RETURNS text
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        verdict text;
        at timestamptz;
    BEGIN
        PERFORM FROM job j WHERE j.id = job_id FOR NO KEY UPDATE;
        at := platform_now();
        UPDATE job j
        SET status = 'cancelled', lease_expires_at = NULL, finished_at = at, resolution = left(why, 8000),
            cancel_requested_at = coalesce(j.cancel_requested_at, at)
        WHERE j.id = job_id
          AND (j.status IN ('pending', 'failed') OR (j.status = 'running' AND j.lease_expires_at <= at))
        RETURNING j.status INTO verdict;
        IF verdict IS NULL THEN
            UPDATE job j
            SET cancel_requested_at = coalesce(j.cancel_requested_at, at), resolution = left(why, 8000)
            WHERE j.id = job_id AND j.status = 'running' AND j.lease_expires_at > at
            RETURNING j.status INTO verdict;
        END IF;
        RETURN verdict;
    END
    $$
"""

# All its claims again, at once, from the step where it stands. The token goes on from where it was: a run that stalled
# before the job died is still fenced out, and no run key comes twice.
RETRY = f"""
    CREATE FUNCTION job_retry(job_id uuid) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        UPDATE job j
        SET status = 'pending', claims = 0, silent_runs = 0, run_after = platform_now(), resend_at = platform_now(),
            resends = 0, dispatched_at = NULL, cancel_requested_at = NULL, finished_at = NULL, review_reason = NULL
        WHERE j.id = job_id AND j.status IN ('failed', 'dead', 'needs_review');
        RETURN FOUND;
    END
    $$
"""

RESOLVE = f"""
    CREATE FUNCTION job_resolve(job_id uuid, to_status text, why text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    BEGIN
        IF to_status NOT IN ('done', 'cancelled') THEN
            RAISE EXCEPTION 'a job is resolved as done or cancelled, not as %', to_status
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
        UPDATE job j
        SET status = to_status, resolution = left(why, 8000), finished_at = platform_now()
        WHERE j.id = job_id AND j.status IN ('dead', 'needs_review');
        RETURN FOUND;
    END
    $$
"""

# Done and cancelled ones only: a dead one, or one that needs review, waits for a person, however long. The DELETE
# repeats the conditions under which the rows were picked.
PURGE = f"""
    CREATE FUNCTION job_purge(older_than interval, max_rows integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE {OWNED}
    AS $$
    DECLARE
        young timestamptz := platform_now() - older_than;
        old uuid[];
        deleted integer;
    BEGIN
        old := ARRAY(
            SELECT f.id FROM job f
            WHERE f.status IN ('done', 'cancelled') AND f.finished_at < young
            ORDER BY f.finished_at
            LIMIT max_rows
            FOR UPDATE SKIP LOCKED
        );
        DELETE FROM job j
        WHERE j.id = ANY (old) AND j.status IN ('done', 'cancelled') AND j.finished_at < young;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        RETURN deleted;
    END
    $$
"""
