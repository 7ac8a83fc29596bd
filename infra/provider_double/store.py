"""The double's durable state: one SQLite file, one connection, one thread.

Everything runs on the event loop's thread and a transaction never awaits, so two calls cannot interleave and no lock
is needed. WAL keeps what was committed through `kill -9`; `synchronous=NORMAL` gives up only the last moments before
a power cut, which no test of ours claims to survive.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SCHEMA = """
create table if not exists intents (
    seq integer primary key autoincrement,
    id text not null unique,
    created real not null,
    doc text not null
);
-- What search sees: it answers from the state of an intent as it was some time ago.
create table if not exists intent_versions (
    seq integer primary key autoincrement,
    intent text not null,
    at real not null,
    doc text not null
);
create index if not exists intent_versions_intent on intent_versions (intent, seq);
create table if not exists refunds (
    seq integer primary key autoincrement,
    id text not null unique,
    created real not null,
    intent text not null,
    doc text not null
);
create index if not exists refunds_intent on refunds (intent, seq);
create table if not exists idempotency_keys (
    key text primary key,
    endpoint text not null,
    fingerprint text not null,
    created real not null,
    status integer not null,
    body text not null,
    request_id text not null
);
create table if not exists calls (
    seq integer primary key autoincrement,
    at real not null,
    operation text not null,
    request_id text not null,
    idempotency_key text,
    intent text,
    refund text,
    payment_id text,
    order_id text,
    status integer,
    error_code text,
    replayed integer not null default 0,
    moved_money integer not null default 0,
    fate text not null default 'in_flight'
);
create index if not exists calls_payment on calls (payment_id, seq);
create index if not exists calls_intent on calls (intent, seq);
create table if not exists moves (
    seq integer primary key autoincrement,
    at real not null,
    kind text not null check (kind in ('capture', 'refund')),
    intent text not null,
    refund text,
    call integer not null,
    amount integer not null check (amount > 0),
    currency text not null,
    payment_id text,
    order_id text,
    idempotency_key text
);
create index if not exists moves_payment on moves (payment_id, seq);
create index if not exists moves_order on moves (order_id, seq);
create index if not exists moves_intent on moves (intent, seq);
create table if not exists events (
    seq integer primary key autoincrement,
    id text not null unique,
    type text not null,
    object text not null,
    created real not null,
    body text not null
);
create table if not exists deliveries (
    seq integer primary key autoincrement,
    event text not null,
    due real,
    attempts integer not null default 0,
    delivered_at real,
    last_status integer,
    last_error text
);
create index if not exists deliveries_due on deliveries (due) where due is not null;
create table if not exists adjustments (
    name text primary key,
    value real not null
);
"""

_TABLES = (
    "intents",
    "intent_versions",
    "refunds",
    "idempotency_keys",
    "calls",
    "moves",
    "events",
    "deliveries",
    "adjustments",
)


class Store:
    """The open database. `connection` is used directly by the modules that own a table."""

    def __init__(self, state_dir: Path) -> None:
        state_dir.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(state_dir / "provider.sqlite3", isolation_level=None)
        self.connection.row_factory = sqlite3.Row
        self.connection.execute("pragma journal_mode = wal")
        self.connection.execute("pragma synchronous = normal")
        self.connection.executescript(_SCHEMA)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit what the block did, or nothing of it. The block must not await."""
        self.connection.execute("begin immediate")
        try:
            yield self.connection
        except BaseException:
            self.connection.execute("rollback")
            raise
        self.connection.execute("commit")

    def clear(self) -> None:
        """Forget everything, but go on counting: a cursor that a reader holds stays valid."""
        with self.transaction() as connection:
            for table in _TABLES:
                connection.execute(f"delete from {table}")

    def close(self) -> None:
        self.connection.close()
