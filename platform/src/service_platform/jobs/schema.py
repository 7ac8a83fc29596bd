"""The job table and who may do what with it.

The row is the truth; the broker's message is a hint that it may be worth a look. The app role reads the table and
calls the functions of `functions.py`; it has no other way to write.

- pending: not begun, or handed back. failed: the last run raised; both may be claimed from `run_after` on.
- running: claimed under `token` until `lease_expires_at`; after it, anyone may claim it.
- done, dead (claims used up), cancelled, needs_review: finished. Nothing claims them.

`dispatched_at` is when the last hint was sent since the last claim (null: none was). `resend_at` is when the sweep may
send the next one (of a running job: not before, and only once its lease has run out); `resends` counts the hints since
the last claim for which nobody came.
"""

from __future__ import annotations

from alembic import op

from service_platform.database.schema import expose, protect

from . import functions

_SIGNATURES = {
    functions.ENQUEUE: "job_enqueue(uuid, text, text, text, text, text)",
    functions.CLAIM: "job_claim(uuid, text, text, double precision, integer)",
    functions.ADVANCE: "job_advance(uuid, text, bigint, double precision)",
    functions.RENEW: "job_renew(uuid, bigint, double precision)",
    functions.COMPLETE: "job_complete(uuid, bigint)",
    functions.FAIL: "job_fail(uuid, bigint, text, double precision, integer)",
    functions.RELEASE: "job_release(uuid, bigint)",
    functions.MARK_DISPATCHED: "job_mark_dispatched(uuid[], double precision)",
    functions.SWEEP: "job_sweep(integer, double precision)",
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
            run_after timestamptz NOT NULL,
            dispatched_at timestamptz,
            resend_at timestamptz NOT NULL,
            resends integer NOT NULL DEFAULT 0,
            cancel_requested_at timestamptz,
            payload jsonb NOT NULL,
            error text,
            correlation_id text NOT NULL,
            traceparent text,
            created_at timestamptz NOT NULL,
            started_at timestamptz,
            finished_at timestamptz,
            CONSTRAINT job_running_under_lease CHECK ((status = 'running') = (lease_expires_at IS NOT NULL)),
            CONSTRAINT job_finished_at_some_time CHECK (
                (status IN ('done', 'dead', 'cancelled', 'needs_review')) = (finished_at IS NOT NULL)
            )
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
    for definition, signature in _SIGNATURES.items():
        op.execute(definition)
        expose(signature)


def step_1_down() -> None:
    for signature in reversed(_SIGNATURES.values()):
        op.execute(f"DROP FUNCTION {signature}")
    op.execute("DROP TABLE job")
