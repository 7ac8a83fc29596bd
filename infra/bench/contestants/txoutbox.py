"""txoutbox, tuned: strict order, woken by a trigger's NOTIFY."""

from __future__ import annotations

from typing import ClassVar

from .peer import Peer


class TxOutbox(Peer):
    """See `programs/txoutbox_relay.py`."""

    name: ClassVar[str] = "txoutbox"
    relay: ClassVar[str] = "txoutbox_relay"
    most_rows: ClassVar[int] = 15_000
    table: ClassVar[str] = "tx_outbox"
    insert: ClassVar[str] = """
        INSERT INTO tx_outbox (topic, key, payload, headers)
        VALUES ('{topic}', $1, convert_to($2, 'UTF8'), '{{}}')
    """
    pending: ClassVar[str] = "SELECT EXISTS (SELECT FROM tx_outbox WHERE status = 'pending')"
