"""What migrations leave in a service's database, compared with what they should."""

from __future__ import annotations

from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, text
from sqlalchemy.ext.asyncio import create_async_engine

from .service_databases import ServiceDatabase

_LEFT = text(
    """
    SELECT relname FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
    WHERE nspname = 'public' AND relkind IN ('r', 'S', 'v') AND relname <> 'alembic_version'
    UNION ALL
    SELECT proname FROM pg_proc JOIN pg_namespace ON pronamespace = pg_namespace.oid WHERE nspname = 'public'
    """
)


async def left_over(database: ServiceDatabase) -> list[str]:
    """The names of the tables, sequences, views and functions that are there."""
    engine = create_async_engine(database.owner.url())
    async with engine.connect() as connection:
        left = (await connection.execute(_LEFT)).scalars().all()
    await engine.dispose()
    return list(left)


async def differences(database: ServiceDatabase, tables: MetaData) -> list[Any]:
    """How the `tables` of the service's code differ from those in the database; others are not looked at."""

    def compared(connection: Connection) -> list[Any]:
        options = {
            "include_name": lambda name, kind, _: kind != "table" or name in tables.tables,
            "compare_type": False,
        }
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), tables))

    engine = create_async_engine(database.owner.url())
    async with engine.connect() as connection:
        found = await connection.run_sync(compared)
    await engine.dispose()
    return found
