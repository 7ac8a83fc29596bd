"""Real databases for the services' tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from native.testing import shared_servers
from world.service_databases import ServiceDatabases


@pytest.fixture(scope="session")
def service_databases(request: pytest.FixtureRequest) -> Iterator[ServiceDatabases]:
    """Databases of any service, on a real server."""
    databases = ServiceDatabases(shared_servers(request.config))
    yield databases
    asyncio.run(databases.drop_templates())
