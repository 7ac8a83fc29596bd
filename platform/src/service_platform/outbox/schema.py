"""The outbox tables and the SQL functions that own them.

`outbox` holds what was said: a message a row, written once, kept for a while. `outbox_queue` holds what is still to be
delivered: a narrow row beside each message that was not. So marking a batch sent takes it out of a small table, and
writes no message a second time; and what a relay reads is as long as the backlog, however long the outbox is.

A queue row is

- pending while `error` is null: taken in batches once `not_before` has come.
- suspect while `error` is set and `parked_at` is not: refused by the broker in company, tried alone at `not_before`.
- parked while `parked_at` is set: refused alone `tries` times, waits for a person.

A suspect and a parked row hold back later rows of their own ordering key, and nothing else. A message without a queue
row was sent, or discarded if `discarded_at` says so.

The app role reads the tables and calls the functions; it has no other way to write.
"""

from __future__ import annotations

from alembic import op

from service_platform.database.schema import expose, protect

from . import functions, operator_functions

_SIGNATURES = {
    functions.APPEND: "outbox_append(text[], text[], text[], text[], uuid[], text[], bytea[], timestamptz[])",
    functions.TAKE: "outbox_take(text, integer, integer, text[])",
    functions.TAKE_SUSPECT: "outbox_take_suspect(text, text[])",
    functions.MARK_SENT: "outbox_mark_sent(bigint[])",
    functions.MARK_SUSPECT: "outbox_mark_suspect(bigint[], text[])",
    functions.REFUSE: "outbox_refuse(bigint, text, smallint, interval)",
    functions.NEXT_DUE: "outbox_next_due(text)",
    operator_functions.RELEASE: "outbox_release(bigint)",
    operator_functions.DISCARD: "outbox_discard(bigint, text)",
    operator_functions.PURGE: "outbox_purge(interval, integer)",
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
            message_id uuid NOT NULL,
            headers json NOT NULL,
            payload bytea NOT NULL,
            created_at timestamptz NOT NULL,
            discarded_at timestamptz,
            discarded_because text
        )
        """
    )
    op.execute(
        """
        CREATE TABLE outbox_queue (
            position bigint PRIMARY KEY,
            ordering_key bigint NOT NULL,
            not_before timestamptz NOT NULL,
            parked_at timestamptz,
            bytes integer NOT NULL,
            shard smallint NOT NULL,
            tries smallint NOT NULL DEFAULT 0,
            channel text NOT NULL,
            destination text NOT NULL,
            error text
        )
        """
    )
    protect("outbox", ["SELECT"])
    protect("outbox_queue", ["SELECT"])
    op.execute(
        """
        CREATE INDEX outbox_queue_pending ON outbox_queue (channel, shard, not_before, position)
        WHERE error IS NULL
        """
    )
    # Suspect and parked rows, nearly always none: what a key is asked before its later rows go.
    op.execute(
        """
        CREATE INDEX outbox_queue_held ON outbox_queue (channel, ordering_key, position)
        WHERE error IS NOT NULL
        """
    )
    # Both turn over: vacuum by what has died, not by a share of the table.
    op.execute(
        """
        ALTER TABLE outbox_queue SET (
            autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
            autovacuum_vacuum_insert_threshold = -1,
            autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
        )
        """
    )
    op.execute(
        """
        ALTER TABLE outbox SET (
            autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
            autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
            autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000
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
    op.execute("DROP TABLE outbox_queue")
    op.execute("DROP TABLE outbox")
