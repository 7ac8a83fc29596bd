"""The inbox, the retry ledger and the dead letters, and the SQL functions that own them.

The app role reads the tables and calls the functions; it has no other way to write.

- `inbox`: what took effect, per consumer. The row is written by the transaction of the effect.
- `retry_ledger`: what has failed and will be tried again, and what waits behind it, in the order of each key. The
  smallest `position` of a key is its head; only a head has `woken_at`. `held_at` marks a dead head that holds its key.
- `dead_letter`: what was given up, with its history. `state`: dead, requeued or discarded.
"""

from __future__ import annotations

from alembic import op

from service_platform.database.schema import expose, protect

from . import functions, operator_functions

_SIGNATURES = {
    functions.CLAIM: "inbox_claim(text, text, text, uuid)",
    functions.CLAIM_RETRY: "inbox_claim_retry(text, text, text, uuid, smallint)",
    functions.APPEND: "retry_append(text, text, text, uuid, text, text, bytea, text)",
    functions.SETTLE: "retry_settle(text, text, text, uuid)",
    functions.FAIL: (
        "retry_fail(text, text, text, uuid, text, text, bytea, text, smallint, integer, interval, boolean, text)"
    ),
    functions.BURY_NAMELESS: "dead_letter_bury_nameless(text, text, bytea, text, text)",
    operator_functions.REQUEUE: "dead_letter_requeue(uuid)",
    operator_functions.DISCARD: "dead_letter_discard(uuid, text)",
    functions.WAKE_OVERDUE: "retry_wake_overdue(integer, interval)",
    operator_functions.PURGE: "inbox_purge(interval, integer)",
}
# Called by the functions above only.
_INTERNAL = {
    functions.KEY_LOCK: "inbox_key_lock(text, text, text)",
    functions.WAKE_HEAD: "retry_wake_head(text, text, text)",
}


def step_1_up() -> None:
    op.execute(
        """
        CREATE TABLE inbox (
            consumer text NOT NULL,
            source text NOT NULL,
            event_id uuid NOT NULL,
            handled_at timestamptz NOT NULL,
            PRIMARY KEY (consumer, source, event_id)
        )
        """
    )
    op.execute("CREATE INDEX inbox_by_age ON inbox USING brin (handled_at)")
    op.execute(
        """
        CREATE TABLE retry_ledger (
            position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            consumer text NOT NULL,
            source text NOT NULL,
            key text NOT NULL,
            event_id uuid NOT NULL,
            event_name text NOT NULL,
            headers json NOT NULL,
            payload bytea NOT NULL,
            origin text NOT NULL,
            attempts smallint NOT NULL,
            due_at timestamptz NOT NULL,
            created_at timestamptz NOT NULL,
            woken_at timestamptz,
            wakes smallint NOT NULL DEFAULT 0,
            held_at timestamptz,
            history jsonb NOT NULL DEFAULT '[]',
            UNIQUE (consumer, source, event_id)
        )
        """
    )
    op.execute("CREATE INDEX retry_ledger_of_key ON retry_ledger (consumer, source, key, position)")
    op.execute("CREATE INDEX retry_ledger_woken ON retry_ledger (woken_at) WHERE held_at IS NULL")
    op.execute(
        """
        CREATE TABLE dead_letter (
            id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
            consumer text NOT NULL,
            source text NOT NULL,
            key text NOT NULL,
            event_id uuid,
            event_name text NOT NULL,
            headers json NOT NULL,
            payload bytea NOT NULL,
            origin text NOT NULL,
            attempts smallint NOT NULL,
            history jsonb NOT NULL,
            error text NOT NULL,
            died_at timestamptz NOT NULL,
            state text NOT NULL DEFAULT 'dead' CHECK (state IN ('dead', 'requeued', 'discarded')),
            resolved_at timestamptz,
            reason text,
            UNIQUE (consumer, source, event_id)
        )
        """
    )
    op.execute("CREATE UNIQUE INDEX dead_letter_nameless ON dead_letter (origin) WHERE event_id IS NULL")
    op.execute("CREATE INDEX dead_letter_waiting ON dead_letter (died_at, id) WHERE state = 'dead'")
    for table in ("inbox", "retry_ledger", "dead_letter"):
        protect(table, ["SELECT"])
    for definition, signature in _INTERNAL.items():
        op.execute(definition)
        op.execute(f"REVOKE ALL ON FUNCTION {signature} FROM PUBLIC")
    for definition, signature in _SIGNATURES.items():
        op.execute(definition)
        expose(signature)


def step_1_down() -> None:
    for signature in [*reversed(_SIGNATURES.values()), *reversed(_INTERNAL.values())]:
        op.execute(f"DROP FUNCTION {signature}")
    for table in ("dead_letter", "retry_ledger", "inbox"):
        op.execute(f"DROP TABLE {table}")
