"""The outbox table of the relays that people write by hand."""

from __future__ import annotations

from typing import ClassVar

from .contestant import TableContestant


class PolledTable(TableContestant):
    """A growing id, the event, and when it was published; what is pending stands in a partial index."""

    table: ClassVar[str] = "outbox"
    create: ClassVar[str] = """
        CREATE TABLE outbox (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            aggregate_id text NOT NULL,
            payload text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            published_at timestamptz
        );
        CREATE INDEX outbox_pending ON outbox (id) WHERE published_at IS NULL;
    """
    insert: ClassVar[str] = "INSERT INTO outbox (aggregate_id, payload) VALUES ($1, $2)"
    pending: ClassVar[str] = "SELECT EXISTS (SELECT FROM outbox WHERE published_at IS NULL)"
