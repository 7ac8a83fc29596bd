"""What a service's `migrations/env.py` calls: Alembic as the owner role, one migrator at a time."""

from __future__ import annotations

import asyncio

from alembic import context
from sqlalchemy import Connection, MetaData, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from .engine import DatabaseAddress

_MIGRATION_LOCK = 0x46454E4345  # any fixed number: replicas that start together migrate one after another


def run_migrations(owner: DatabaseAddress, *, app_role: str, metadata: MetaData) -> None:
    """Run the Alembic command at hand against `owner`'s database.

    Each revision commits by itself. A second migrator waits for the first one and then finds nothing to do. A lock
    that is not had in 5 s (a long query holds the table) fails the migration instead of queueing every reader
    behind it.
    """
    context.config.attributes["app_role"] = app_role
    if context.is_offline_mode():
        raise SystemExit("Offline SQL is not supported: the steps read roles from the live configuration.")
    asyncio.run(_run(owner, metadata))


async def _run(owner: DatabaseAddress, metadata: MetaData) -> None:
    engine = create_async_engine(owner.url(), poolclass=NullPool, connect_args={"ssl": owner.tls()})
    async with engine.connect() as guard, engine.connect() as connection:
        await guard.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        await connection.execute(text("SET lock_timeout = '5s'"))
        await connection.commit()
        await connection.run_sync(_migrate, metadata)
    await engine.dispose()


def _migrate(connection: Connection, metadata: MetaData) -> None:
    context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()
