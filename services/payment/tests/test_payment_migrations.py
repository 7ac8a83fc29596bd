"""The payment service's migrations, on a real server."""

from __future__ import annotations

from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine

from payment_service.domain.payments import metadata

_LEFT = text(
    """
    SELECT relname FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
    WHERE nspname = 'public' AND relkind IN ('r', 'S', 'v') AND relname <> 'alembic_version'
    UNION ALL
    SELECT proname FROM pg_proc JOIN pg_namespace ON pronamespace = pg_namespace.oid WHERE nspname = 'public'
    """
)


async def test_migrations_go_up_leave_nothing_on_the_way_down_and_go_up_again(service_databases: Any) -> None:
    async with service_databases.empty("payment") as made:
        made.alembic("upgrade", "head")
        made.alembic("downgrade", "base")
        engine = create_async_engine(made.owner.url())
        async with engine.connect() as connection:
            left = (await connection.execute(_LEFT)).scalars().all()
        await engine.dispose()
        assert left == []
        made.alembic("upgrade", "head")


async def test_the_tables_in_code_are_those_of_the_migrations(service_databases: Any) -> None:
    def differences(connection: Connection) -> list[Any]:
        ours = set(metadata.tables)
        options = {"include_name": lambda name, kind, _: kind != "table" or name in ours, "compare_type": False}
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))

    async with service_databases.migrated("payment") as made:
        engine = create_async_engine(made.owner.url())
        async with engine.connect() as connection:
            found = await connection.run_sync(differences)
        await engine.dispose()
    assert found == []
