"""What the tests of operator actions share: a table of things, and the command as a process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from service_platform.database import DatabaseAddress

_FOLDER = Path(__file__).parent


async def make_table(owner: asyncpg.Connection[asyncpg.Record]) -> None:
    """The table of things, with none in it."""
    await owner.execute("CREATE TABLE thing (id uuid PRIMARY KEY, name text, reason text, made_at timestamptz)")
    await owner.execute("GRANT SELECT, INSERT, UPDATE ON thing TO PUBLIC")


async def make_thing(owner: asyncpg.Connection[asyncpg.Record], name: str = "kettle", seconds: int = 0) -> UUID:
    """An open thing, made so many seconds after the others."""
    thing = uuid4()
    await owner.execute(
        "INSERT INTO thing VALUES ($1, $2, NULL, timestamptz '2026-03-01 09:30Z' + make_interval(secs => $3))",
        thing,
        name,
        seconds,
    )
    return thing


def service_environment(address: DatabaseAddress) -> dict[str, str]:
    """What a process of a service with this database is told."""
    return {
        "PATH": os.environ["PATH"],
        "ENVIRONMENT": "development",
        "SERVICE_NAME": "order",
        "DATABASE_HOST": address.host,
        "DATABASE_PORT": str(address.port),
        "DATABASE_NAME": address.name,
        "DATABASE_USER": address.user,
        "DATABASE_PASSWORD": address.password,
        "KAFKA_BOOTSTRAP_SERVERS": "none",
        "REDIS_HOST": "none",
        "REDIS_PASSWORD": "none",
        "JWT_ISSUER": "https://fencepost.local/",
        "JWT_AUDIENCE": "fencepost",
        "JWT_JWKS_URL": "file:///none",
    }


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


async def command(address: DatabaseAddress, *words: str, lab: str = "ops_process.py", **environment: str) -> Ended:
    """Run the operators' command of a service whose database is at `address`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(_FOLDER / lab),
        *words,
        env=service_environment(address) | environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), timeout=60)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())
