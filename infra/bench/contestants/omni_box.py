"""omni-box: its publishing loop, a thousand rows at a time."""

from __future__ import annotations

from typing import ClassVar

from .peer import Peer


class OmniBox(Peer):
    """See `programs/omni_box_relay.py`."""

    name: ClassVar[str] = "omni-box"
    relay: ClassVar[str] = "omni_box_relay"
    rounds: ClassVar[int] = 1
    newer_python: ClassVar[bool] = True
    most_rows: ClassVar[int] = 4_000
    table: ClassVar[str] = "outbox_events"
    insert: ClassVar[str] = """
        INSERT INTO outbox_events (
            id, event_type, payload, status, attempts_made, max_attempts, scheduled_at, aggregate_type, aggregate_id,
            topic, partition_key, created_at
        ) VALUES (
            gen_random_uuid(), 'bench.measured', $2::text::jsonb, 'pending', 0, 5, clock_timestamp(), 'aggregate',
            md5($1)::uuid, '{topic}', $1, clock_timestamp()
        )
    """
    pending: ClassVar[str] = "SELECT EXISTS (SELECT FROM outbox_events WHERE status = 'pending')"
