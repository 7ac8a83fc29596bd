"""The three databases as their owners see them: for looking, and for planting faults."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg

from native.credentials import POSTGRES_PASSWORD
from native.stack import Stack

Row = asyncpg.Record


class Databases:
    """One owner's connection a service, opened when first asked for."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._open: dict[str, asyncpg.Connection[Row]] = {}

    async def of(self, service: str) -> asyncpg.Connection[Row]:
        """The owner's connection to the database of `service`, in autocommit."""
        connection = self._open.get(service)
        if connection is None or connection.is_closed():
            connection = self._open[service] = await self.another(service)
        return connection

    async def another(self, service: str) -> asyncpg.Connection[Row]:
        """A further connection, for a lock or a transaction of its own; whoever asked closes it."""
        env = self._stack.topology.migration_env(service)
        return await asyncpg.connect(
            host=env["DATABASE_HOST"],
            port=int(env["DATABASE_PORT"]),
            database=env["DATABASE_NAME"],
            user=env["DATABASE_OWNER_USER"],
            password=_secret(env["DATABASE_OWNER_PASSWORD_FILE"]),
        )

    async def as_superuser(self, service: str) -> asyncpg.Connection[Row]:
        """The superuser's connection to the database of `service`: the one who sees what other roles' sessions do."""
        name = f"superuser of {service}"
        connection = self._open.get(name)
        if connection is None or connection.is_closed():
            connection = self._open[name] = await asyncpg.connect(
                host="127.0.0.1",
                port=self._stack.topology.ports["postgres"],
                database=self._stack.topology.migration_env(service)["DATABASE_NAME"],
                user="postgres",
                password=_secret(str(self._stack.layout.secrets / POSTGRES_PASSWORD)),
            )
        return connection

    async def cut(self, pid: int) -> None:
        """Cut the connection whose server process is `pid`, as a broken network would; only the superuser may."""
        await (await self.as_superuser("order")).execute("SELECT pg_terminate_backend($1)", pid)

    async def rows(self, service: str, query: str, *values: Any) -> list[Row]:
        """The rows that `query` finds."""
        return await (await self.of(service)).fetch(query, *values)

    async def value(self, service: str, query: str, *values: Any) -> Any:
        """The first column of the first row, or None."""
        return await (await self.of(service)).fetchval(query, *values)

    async def execute(self, service: str, statement: str, *values: Any) -> None:
        """Run one statement."""
        await (await self.of(service)).execute(statement, *values)

    async def close(self) -> None:
        for connection in self._open.values():
            await connection.close()


def _secret(path: str) -> str:
    return Path(path).read_text(encoding="utf-8").strip()


@contextlib.asynccontextmanager
async def planted(databases: Databases, service: str, plant: str, remove: str) -> AsyncIterator[None]:
    """A fault in the schema for the length of a block."""
    await databases.execute(service, plant)
    try:
        yield
    finally:
        await databases.execute(service, remove)
