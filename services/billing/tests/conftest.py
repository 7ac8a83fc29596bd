"""A database for the tests of the billing service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from service_platform.database import Database


@pytest.fixture
async def billing_database(service_databases: Any) -> AsyncIterator[Database]:
    """The billing service's own tables, empty, as the app role."""
    async with service_databases.migrated("billing") as made, made.opened() as database:
        yield database
