"""What an operator does about a service's dead letters."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from native.stack import Stack
from service_platform.database import Database, DatabaseAddress
from service_platform.inbox import DeadLetterOffice


class Operators:
    """Acts on each service's database as its own processes may."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    async def requeue(self, service: str, letter: UUID) -> str:
        """Requeue the dead letter; whether its event is tried again or had been handled."""
        database = self._database(service)
        try:
            async with database.transaction() as tx:
                return await DeadLetterOffice(service).requeue(tx, letter)
        finally:
            await database.close()

    def _database(self, service: str) -> Database:
        env = self._stack.env(f"{service}-relay")
        address = DatabaseAddress(
            host=env["DATABASE_HOST"],
            port=int(env["DATABASE_PORT"]),
            name=env["DATABASE_NAME"],
            user=env["DATABASE_USER"],
            password=Path(env["DATABASE_PASSWORD_FILE"]).read_text(encoding="utf-8").strip(),
        )
        return Database(address, application_name="operator", pool_size=1)
