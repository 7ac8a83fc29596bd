"""faststream-outbox, tuned: thirty-two workers, large batches, woken by NOTIFY."""

from __future__ import annotations

from typing import ClassVar

from .peer import Peer


class FastStreamOutbox(Peer):
    """See `programs/faststream_outbox_relay.py`. It deletes what it has sent."""

    name: ClassVar[str] = "faststream-outbox"
    relay: ClassVar[str] = "faststream_outbox_relay"
    most_rows: ClassVar[int] = 8_000
    table: ClassVar[str] = "fs_outbox"
    insert: ClassVar[str] = """
        WITH stored AS (
            INSERT INTO fs_outbox (queue, payload, headers)
            VALUES (
                left($1, 0) || 'measured', convert_to($2, 'UTF8'),
                jsonb_build_object('content-type', 'application/json', 'correlation_id', gen_random_uuid()::text)
            )
            RETURNING queue
        )
        SELECT pg_notify('outbox_fs_outbox', queue) FROM stored
    """
    pending: ClassVar[str] = "SELECT EXISTS (SELECT FROM fs_outbox)"
