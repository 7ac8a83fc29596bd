"""The job table and who may do what with it.

The row is the truth; the broker's message is a hint that it may be worth a look. The app role reads the table and
calls the functions listed below; it has no other way to write.

- pending: not begun, or handed back. failed: the last run raised; both may be claimed from `run_after` on.
- running: claimed under `token` until `lease_expires_at`; after it, anyone may claim it.
- done, cancelled: finished for good, and purged one day.
- dead (claims used up, or too many runs in a row ended without a word), needs_review (a step found that no machine can
  decide): nothing claims them, and they are kept until a person retries or resolves them.

`silent_runs` counts the runs in a row that ended without a word: the next claim found the row running and its lease run
out. A run that says how it ended, be it by failing, sets it back. `dispatched_at` is when the last hint was sent since
the last claim (null: none was). `resend_at` is when the sweep may send the next one (of a running job: not before, and
only once its lease has run out); `resends` counts the hints since the last claim for which nobody came.
`review_reason` is a step's word to a person, `resolution` a person's word on why the job was cancelled or resolved.
"""

from __future__ import annotations

from alembic import op

from service_platform.database.schema import expose, protect

from . import dispatch_functions, functions, operator_functions

_SIGNATURES = {
    functions.ENQUEUE: "job_enqueue(uuid, text, text, text, text, text)",
    functions.CLAIM: "job_claim(uuid, text, text, double precision, integer, integer)",
    functions.ADVANCE: "job_advance(uuid, text, bigint, double precision)",
    functions.RENEW: "job_renew(uuid, bigint, double precision)",
    functions.COMPLETE: "job_complete(uuid, bigint)",
    functions.FAIL: "job_fail(uuid, bigint, text, double precision, integer)",
    functions.RELEASE: "job_release(uuid, bigint)",
    functions.REVIEW: "job_review(uuid, bigint, text)",
    functions.CANCEL: "job_cancel(uuid, bigint)",
    dispatch_functions.MARK_DISPATCHED: "job_mark_dispatched(uuid[], bigint[], double precision)",
    dispatch_functions.SWEEP: "job_sweep(integer, double precision)",
    operator_functions.REQUEST_CANCEL: "job_request_cancel(uuid, text)",
    operator_functions.RETRY: "job_retry(uuid)",
    operator_functions.RESOLVE: "job_resolve(uuid, text, text)",
    operator_functions.PURGE: "job_purge(interval, integer)",
}


def step_1_up() -> None:
    """Needs step 1 of the database and of the outbox."""
    op.execute(
        """
        CREATE TABLE job (
            id uuid PRIMARY KEY,
            kind text NOT NULL,
            job_key text NOT NULL UNIQUE,
            status text NOT NULL CHECK (
                status IN ('pending', 'running', 'failed', 'done', 'dead', 'cancelled', 'needs_review')
            ),
            current_step text,
            token bigint NOT NULL DEFAULT 0,
            claimed_by text,
            lease_expires_at timestamptz,
            claims integer NOT NULL DEFAULT 0 CHECK (claims >= 0),
            silent_runs integer NOT NULL DEFAULT 0 CHECK (silent_runs >= 0),
            run_after timestamptz NOT NULL,
            dispatched_at timestamptz,
            resend_at timestamptz NOT NULL,
            resends integer NOT NULL DEFAULT 0,
            cancel_requested_at timestamptz,
            payload jsonb NOT NULL,
            error text,
            review_reason text,
            resolution text,
            correlation_id text NOT NULL,
            traceparent text,
            created_at timestamptz NOT NULL,
            started_at timestamptz,
            finished_at timestamptz,
            CONSTRAINT job_running_under_lease CHECK ((status = 'running') = (lease_expires_at IS NOT NULL)),
            CONSTRAINT job_finished_at_some_time CHECK (
                (status IN ('done', 'dead', 'cancelled', 'needs_review')) = (finished_at IS NOT NULL)
            ),
            CONSTRAINT job_review_for_a_reason CHECK ((status = 'needs_review') <= (review_reason IS NOT NULL))
        ) WITH (
            fillfactor = 70,
            autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
            autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
        )
        """
    )
    protect("job", ["SELECT"])
    # What the sweep reads: jobs that wait, and those that run. Neither grows with the jobs that are done, and a
    # fence or a renewal changes no column of an index.
    op.execute("CREATE INDEX job_waiting ON job (resend_at) WHERE status IN ('pending', 'failed')")
    op.execute("CREATE INDEX job_running ON job (id) WHERE status = 'running'")
    # What waits for a person, and what the purge reads.
    op.execute("CREATE INDEX job_undecided ON job (finished_at) WHERE status IN ('dead', 'needs_review')")
    op.execute("CREATE INDEX job_finished ON job (finished_at) WHERE status IN ('done', 'cancelled')")
    for definition, signature in _SIGNATURES.items():
        op.execute(definition)
        expose(signature)


def step_1_down() -> None:
    for signature in reversed(_SIGNATURES.values()):
        op.execute(f"DROP FUNCTION {signature}")
    op.execute("DROP TABLE job")
