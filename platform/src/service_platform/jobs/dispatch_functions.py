"""The SQL functions of the job table (step 1) by which hints reach the broker, again where they were lost."""

# ruff: noqa: S608 - what is put into these texts are constants of this module
from __future__ import annotations

from .functions import OWNED

# 1, 2, 4 ... 64 times the first wait: a lost hint is repaired soon, a long queue is not filled with doubles. The wait
# grows with the hints that were sent in vain, so the first one since the last claim counts for nothing.
_RESENDS = "j.resends + (j.dispatched_at IS NOT NULL)::integer"
_RESEND_AFTER = "make_interval(secs => resend_after * power(2, least({resends}, 6)))"

# Each hint says under which token it was sent. A job that was claimed since needs it no more; also when it failed
# meanwhile, which is soon when the sink sends many before it notes any. A row that is being claimed at this instant is
# skipped.
#
# Rows are locked one by one and changed by id, and one that waits is told by what it does not have (see the table's
# checks), not by its status: so no plan can go through the index of those that wait. While nearly all jobs are done the
# planner takes that for empty, and would go through a whole backlog for each hint. There is but one plan, which is made
# once: planning costs more than noting a hint.
MARK_DISPATCHED = f"""
    CREATE FUNCTION job_mark_dispatched(job_ids uuid[], tokens bigint[], resend_after double precision) RETURNS void
    LANGUAGE plpgsql VOLATILE {OWNED} SET plan_cache_mode = force_generic_plan
    AS $$
    DECLARE
        at timestamptz := platform_now();
        waiting uuid[];
    BEGIN
        waiting := ARRAY(
            SELECT w.id FROM unnest(job_ids, tokens) AS sent(id, token)
            CROSS JOIN LATERAL (
                SELECT j.id FROM job j
                WHERE j.id = sent.id AND j.token = sent.token AND j.lease_expires_at IS NULL AND j.finished_at IS NULL
                FOR NO KEY UPDATE SKIP LOCKED
            ) AS w
        );
        UPDATE job j
        SET dispatched_at = at, resend_at = greatest(j.run_after, at) + {_RESEND_AFTER.format(resends="j.resends")}
        WHERE j.id = ANY (waiting);
    END
    $$
"""

# Any number of sweeps may run at once: each takes rows that no other holds, and no row twice within its wait. The
# UPDATE repeats the conditions under which the rows were picked.
SWEEP = f"""
    CREATE FUNCTION job_sweep(max_jobs integer, resend_after double precision) RETURNS integer
    LANGUAGE plpgsql VOLATILE {OWNED}
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
            RETURNING j.id, j.kind, j.job_key, j.token, j.correlation_id, j.traceparent
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
                           'kind', s.kind, 'job_id', s.id, 'job_key', s.job_key, 'token', s.token
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
