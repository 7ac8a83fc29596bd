"""The outbox table and the SQL functions that own it.

The app role reads the table and calls the functions; it has no other way to write. What a row's columns say:

- pending: `sent_at` and `error` are null; taken in batches once `not_before` has come.
- suspect: `error` is set, `parked_at` is null; refused by the broker in company, tried alone at `not_before`.
- parked: `parked_at` is set; refused alone `tries` times, waits for a person.
- sent: `sent_at` is set.

A suspect and a parked row hold back later rows of their own key, and nothing else.
"""

from __future__ import annotations

from alembic import op

from service_platform.database.schema import expose, protect

from . import functions

_SIGNATURES = {
    functions.APPEND: "outbox_append(text[], text[], text[], text[], uuid[], text[], bytea[], timestamptz[])",
    functions.TAKE: "outbox_take(text, integer, bigint, text[])",
    functions.TAKE_SUSPECT: "outbox_take_suspect(text, text[])",
    functions.MARK_SENT: "outbox_mark_sent(bigint[])",
    functions.MARK_SUSPECT: "outbox_mark_suspect(bigint[], text[])",
    functions.REFUSE: "outbox_refuse(bigint, text, smallint, interval)",
    functions.NEXT_DUE: "outbox_next_due(text)",
}


def step_1_up() -> None:
    op.execute(
        """
        CREATE TABLE outbox (
            position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            channel text NOT NULL CHECK (channel IN ('kafka', 'celery')),
            destination text NOT NULL,
            consumer text NOT NULL,
            key text NOT NULL,
            shard smallint NOT NULL,
            message_id uuid NOT NULL,
            headers json NOT NULL,
            payload bytea NOT NULL,
            not_before timestamptz NOT NULL DEFAULT '-infinity',
            created_at timestamptz NOT NULL,
            sent_at timestamptz,
            tries smallint NOT NULL DEFAULT 0,
            parked_at timestamptz,
            error text
        )
        """
    )
    protect("outbox", ["SELECT"])
    # What a relay reads, and nothing that was sent: its size is the backlog's, not the table's.
    op.execute(
        """
        CREATE INDEX outbox_pending ON outbox (channel, shard, not_before, position)
        WHERE sent_at IS NULL AND error IS NULL
        """
    )
    # Suspect and parked rows, nearly always none: what a key is asked before its later rows go.
    op.execute(
        """
        CREATE INDEX outbox_held ON outbox (channel, destination, consumer, key, position)
        WHERE sent_at IS NULL AND error IS NOT NULL
        """
    )
    # A queue turns its rows over: vacuum by what has died, not by a share of a large table.
    op.execute(
        """
        ALTER TABLE outbox SET (
            autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
            autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 50000,
            autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
        )
        """
    )
    op.execute(functions.ORDERING_KEY)
    for definition, signature in _SIGNATURES.items():
        op.execute(definition)
        expose(signature)


def step_1_down() -> None:
    for signature in reversed(_SIGNATURES.values()):
        op.execute(f"DROP FUNCTION {signature}")
    op.execute("DROP FUNCTION outbox_ordering_key(text, text, text)")
    op.execute("DROP TABLE outbox")
