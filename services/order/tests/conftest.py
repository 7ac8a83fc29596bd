"""A database for the tests of the order service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from service_platform.database import Database


@pytest.fixture
async def order_database(service_databases: Any) -> AsyncIterator[Database]:
    """The order service's own tables, empty, as the app role."""
    async with service_databases.migrated("order") as made, made.opened() as database:
        yield database
