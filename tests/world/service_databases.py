"""Real databases for tests of the services, on the servers that the platform's tests use too (`native.testing`)."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from uuid import uuid4

import asyncpg

from native.credentials import POSTGRES_PASSWORD, app_password, owner_password
from native.layout import ROOT
from native.stack import Stack
from service_platform.database import Database, DatabaseAddress
from service_platform.database.schema import TEST_ROLE

from .service_process import service_environment


@dataclass(frozen=True)
class ServiceDatabase:
    """An empty database of one service, which only the test that asked for it knows."""

    service: str
    app: DatabaseAddress
    owner: DatabaseAddress

    def alembic(self, *arguments: str) -> str:
        """Run the service's own Alembic on it, as the owner; what it printed. Fails the test when that fails."""
        settings = service_environment(self.service, self.app) | {
            "DATABASE_OWNER_USER": self.owner.user,
            "DATABASE_OWNER_PASSWORD": self.owner.password,
            "STRIPE_API_KEY": "none",
            "STRIPE_WEBHOOK_SECRET": "none",
            "SMTP_HOST": "127.0.0.1",
            "MAIL_FROM": "billing@fencepost.example",
        }
        done = subprocess.run(
            [sys.executable, "-m", "alembic", *arguments],
            cwd=ROOT / "services" / self.service,
            env=settings,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[Database]:
        """What a process of the service holds, as the app role."""
        database = Database(self.app, application_name="test", pool_size=30)
        try:
            yield database
        finally:
            await database.close()


class ServiceDatabases:
    """Makes databases; a migrated one is a copy of the service's first, so that migrating costs once a run."""

    def __init__(self, stack: Stack) -> None:
        self.postgres = stack.topology.postgres
        self._secrets = stack.layout.secrets
        self._superuser = DatabaseAddress(
            "127.0.0.1", stack.topology.ports["postgres"], "postgres", "postgres", self._secret(POSTGRES_PASSWORD)
        )
        self._migrated: dict[str, ServiceDatabase] = {}

    @contextlib.asynccontextmanager
    async def empty(self, service: str) -> AsyncIterator[ServiceDatabase]:
        made = await self._create(service, template="template0")
        yield made
        await self._drop(made)

    @contextlib.asynccontextmanager
    async def migrated(self, service: str) -> AsyncIterator[ServiceDatabase]:
        if service not in self._migrated:
            first = await self._create(service, template="template0")
            first.alembic("upgrade", "head")
            self._migrated[service] = first
        made = await self._create(service, template=self._migrated[service].app.name)
        yield made
        await self._drop(made)

    async def drop_templates(self) -> None:
        for made in self._migrated.values():
            await self._drop(made)

    async def _create(self, service: str, *, template: str) -> ServiceDatabase:
        name = f"{service}_{uuid4().hex[:12]}"
        app = replace(self._superuser, name=name, user=f"{service}_app", password=self._secret(app_password(service)))
        owner = replace(app, user=f"{service}_owner", password=self._secret(owner_password(service)))
        await self._execute(
            self._superuser,
            f"CREATE DATABASE {name} OWNER {owner.user} TEMPLATE {template}",
            f"REVOKE ALL ON DATABASE {name} FROM PUBLIC",
            f"GRANT CONNECT ON DATABASE {name} TO {app.user}",
            f"DO $$ BEGIN CREATE ROLE {TEST_ROLE}; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
            f"GRANT {TEST_ROLE} TO {owner.user}",  # tests move the clock as the owner
        )
        await self._execute(
            replace(self._superuser, name=name),
            "REVOKE ALL ON SCHEMA public FROM PUBLIC",
            f"GRANT USAGE ON SCHEMA public TO {app.user}",
        )
        return ServiceDatabase(service, app, owner)

    async def _drop(self, made: ServiceDatabase) -> None:
        await self._execute(self._superuser, f"DROP DATABASE {made.app.name} WITH (FORCE)")

    async def _execute(self, address: DatabaseAddress, *statements: str) -> None:
        connection = await asyncpg.connect(
            **address.driver_arguments(),
            timeout=20,
        )
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    def _secret(self, name: str) -> str:
        return (self._secrets / name).read_text(encoding="utf-8")
