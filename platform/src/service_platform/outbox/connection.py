"""Connections of the outbox's own loops: asyncpg itself, with time limits that the server enforces."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import asyncpg

from service_platform.database import DATABASE_LOST, Database

# A relay that is stopped, cut off or stuck holds its shards until the server ends its transaction. A delivery must be
# over before that: DELIVERY_DEADLINE < _IDLE_LIMIT < _TRANSACTION_LIMIT.
DELIVERY_DEADLINE = 5.0
_IDLE_LIMIT = "7s"
_STATEMENT_LIMIT = "5s"
_TRANSACTION_LIMIT = "10s"
_ANSWER_SECONDS = 8.0

# Everything here reads the head of an index. Plans that would be right for the table's statistics of a minute ago
# are ruinous for the backlog of now.
_ONLY_BY_INDEX = {
    **dict.fromkeys(("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin"), "off"),
    "enable_memoize": "off",
    "plan_cache_mode": "force_generic_plan",
}


@contextlib.asynccontextmanager
async def open_connection(database: Database, purpose: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A connection beside the pool, closed at the end of the block. `purpose` shows in pg_stat_activity.

    Commits on it do not wait for the disk: what a relay writes is that something was sent, and a server that crashes
    and forgets it has it sent again, which every reader must bear anyway.
    """
    connection = await asyncpg.connect(
        **database.address.driver_arguments(),
        timeout=_ANSWER_SECONDS,
        command_timeout=_ANSWER_SECONDS,
        server_settings={
            "application_name": f"{database.application_name} {purpose}",
            "synchronous_commit": "off",
            "jit": "off",
            **_ONLY_BY_INDEX,
            "statement_timeout": _STATEMENT_LIMIT,
            "idle_in_transaction_session_timeout": _IDLE_LIMIT,
            "transaction_timeout": _TRANSACTION_LIMIT,
            "default_transaction_isolation": "read committed",  # a pass reads after its locks
        },
    )
    try:
        yield connection
    finally:
        with contextlib.suppress(*DATABASE_LOST):
            await connection.close(timeout=1)


@contextlib.asynccontextmanager
async def transaction(connection: asyncpg.Connection[asyncpg.Record]) -> AsyncIterator[list[str]]:
    """A READ COMMITTED transaction. The statements that its block appends to the list travel with the COMMIT.

    Sent by themselves, mark and COMMIT cost a relay a fifth more processor for a row that comes alone. The statements
    take no arguments, and once they are on their way the server commits without this process, too.
    """
    at_commit: list[str] = []
    try:
        await connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        yield at_commit
        await connection.execute("; ".join([*at_commit, "COMMIT"]))
    except BaseException:
        with contextlib.suppress(*DATABASE_LOST):
            await connection.execute("ROLLBACK")
        raise
