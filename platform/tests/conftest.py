"""Real parts for the platform's tests: the servers of `native.testing`, a fresh database and topic for each test."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from uuid import uuid4

import asyncpg
import pytest
from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from bus_lab import make_topics
from confluent_kafka.admin import AdminClient
from consuming_lab import make_effects
from database_lab import with_one_connection
from ledger_lab import Deliveries
from sqlalchemy import Connection, make_url
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from native.credentials import POSTGRES_PASSWORD
from native.layout import ROOT
from native.stack import Stack
from native.testing import shared_servers
from service_platform.database import Database, DatabaseAddress
from service_platform.database import schema as database_schema
from service_platform.database.schema import TEST_ROLE
from service_platform.idempotency import schema as idempotency_schema
from service_platform.inbox import schema as inbox_schema
from service_platform.jobs import schema as jobs_schema
from service_platform.ops import schema as ops_schema
from service_platform.outbox import schema as outbox_schema
from service_platform.ticks import schema as ticks_schema

_OWNER, _APP = "platform_owner", "platform_app"
_PASSWORD = "only-for-tests"
_SCHEMAS = (database_schema, outbox_schema, inbox_schema, jobs_schema, ticks_schema, idempotency_schema, ops_schema)


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Stack:
    """Postgres, Valkey and Kafka, and no service. Shared by all tests: leave it as it was found."""
    return shared_servers(request.config)


@pytest.fixture(scope="session")
def kafka(stack: Stack) -> str:
    """The broker's address."""
    return stack.topology.kafka_address


@pytest.fixture
async def source(kafka: str) -> AsyncIterator[str]:
    """A service that nobody else has, with its topics of three partitions."""
    name = f"s{uuid4().hex[:10]}"
    topics = [f"events.{name}", f"events.{name}.retry", f"events.{name}.dlq"]
    await make_topics(kafka, topics, partitions=3, max_message_bytes=1024 * 1024)
    yield name
    AdminClient({"bootstrap.servers": kafka}).delete_topics(topics)


@pytest.fixture(scope="session")
def superuser(stack: Stack) -> DatabaseAddress:
    """Who makes the databases: on the stack's server, or on that of FENCEPOST_PLATFORM_TEST_POSTGRES.

    The latter is a URL with user and password, to run on the image's version (docs/adr/0019).
    """
    if elsewhere := os.environ.get("FENCEPOST_PLATFORM_TEST_POSTGRES"):
        url = make_url(elsewhere)
        return DatabaseAddress(
            url.host or "127.0.0.1",
            url.port or 5432,
            url.database or "postgres",
            url.username or "postgres",
            url.password or "",
        )
    password = (stack.layout.secrets / POSTGRES_PASSWORD).read_text(encoding="utf-8")
    return DatabaseAddress("127.0.0.1", stack.topology.ports["postgres"], "postgres", "postgres", password)


@pytest.fixture(scope="session")
def template(superuser: DatabaseAddress) -> Iterator[str]:
    """A migrated database that every test's own one is copied from."""
    name = f"platform_{uuid4().hex[:12]}"
    asyncio.run(_make_template(superuser, name))
    yield name
    asyncio.run(_drop(superuser, name))


@pytest.fixture
async def app_address(superuser: DatabaseAddress, template: str) -> AsyncIterator[DatabaseAddress]:
    """A fresh database with the platform's tables, as the app role sees it."""
    name = f"t_{uuid4().hex[:12]}"
    admin = await connect(superuser)
    await admin.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {_OWNER}")
    await admin.execute(f"GRANT CONNECT ON DATABASE {name} TO {_APP}")
    yield replace(superuser, name=name, user=_APP, password=_PASSWORD)
    await admin.close()
    await _drop(superuser, name)


@pytest.fixture
async def database(app_address: DatabaseAddress) -> AsyncIterator[Database]:
    """What a service's process holds: the fresh database, as the app role."""
    database = Database(app_address, application_name="test", pool_size=10)
    yield database
    await database.close()


@pytest.fixture
async def owner(app_address: DatabaseAddress) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A connection as the tables' owner, to look and to prepare."""
    connection = await connect(replace(app_address, user=_OWNER))
    yield connection
    await connection.close(timeout=2)


@pytest.fixture
async def one(database: Database, owner: asyncpg.Connection[asyncpg.Record]) -> AsyncIterator[Database]:
    """The fresh database by one connection, with a table to write to: what a transaction leaves, the next one meets."""
    async with with_one_connection(database, owner) as one:
        yield one


@pytest.fixture
async def root(
    superuser: DatabaseAddress, app_address: DatabaseAddress
) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A superuser's connection to the fresh database, to see what other sessions do and to end them."""
    connection = await connect(replace(superuser, name=app_address.name))
    yield connection
    await connection.close(timeout=2)


@pytest.fixture
async def effect_table(owner: asyncpg.Connection[asyncpg.Record]) -> None:
    """Where the consumers of a test leave their effects."""
    await make_effects(owner)


@pytest.fixture
async def shop(database: Database, owner: asyncpg.Connection[asyncpg.Record]) -> Deliveries:
    """A service that events are delivered to without a broker."""
    shop = Deliveries(database, owner)
    await shop.make_effects()
    return shop


async def connect(address: DatabaseAddress) -> asyncpg.Connection[asyncpg.Record]:
    return await asyncpg.connect(
        **address.driver_arguments(),
        timeout=20,
    )


async def _make_template(superuser: DatabaseAddress, name: str) -> None:
    admin = await connect(superuser)
    async with admin.transaction():
        await admin.execute("SELECT pg_advisory_xact_lock(1)")  # xdist workers come here together
        for role in (_OWNER, _APP):
            if not await admin.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
                await admin.execute(f"CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD '{_PASSWORD}'")
        if not await admin.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", TEST_ROLE):
            await admin.execute(f"CREATE ROLE {TEST_ROLE}")
        await admin.execute(f"GRANT {TEST_ROLE} TO {_OWNER}")  # tests move the clock as the owner
    await admin.execute(f"CREATE DATABASE {name} OWNER {_OWNER} TEMPLATE template0")
    await admin.close()
    inside = await connect(replace(superuser, name=name))
    await inside.execute(f"REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO {_APP}")
    await inside.close()
    owner = replace(superuser, name=name, user=_OWNER, password=_PASSWORD)
    engine = create_async_engine(owner.url(), poolclass=NullPool)
    async with engine.begin() as connection:
        await connection.run_sync(_migrate)
    await engine.dispose()


async def _drop(superuser: DatabaseAddress, name: str) -> None:
    admin = await connect(superuser)
    await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()


def _migrate(connection: Connection) -> None:
    config = Config()
    config.attributes["app_role"] = _APP
    environment = EnvironmentContext(config, ScriptDirectory(str(ROOT)))
    context = MigrationContext.configure(connection, environment_context=environment)
    with Operations.context(context):
        for schema in _SCHEMAS:
            for step in sorted(name for name in vars(schema) if re.fullmatch(r"step_\d+_up", name)):
                getattr(schema, step)()
