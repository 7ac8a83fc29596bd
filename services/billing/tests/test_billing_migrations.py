"""The billing service's migrations, on a real server."""

from __future__ import annotations

from typing import Any

from billing_service.domain.invoices import metadata
from world.migrating import differences, left_over


async def test_migrations_go_up_leave_nothing_on_the_way_down_and_go_up_again(service_databases: Any) -> None:
    async with service_databases.empty("billing") as made:
        made.alembic("upgrade", "head")
        made.alembic("downgrade", "base")
        assert await left_over(made) == []
        made.alembic("upgrade", "head")


async def test_the_tables_in_code_are_those_of_the_migrations(service_databases: Any) -> None:
    async with service_databases.migrated("billing") as made:
        assert await differences(made, metadata) == []
