"""What the tests of operator actions share: a table of things, and the command as a process."""

from __future__ import annotations

import sys
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg

from service_platform.database import DatabaseAddress
from world.service_process import Ended, run, service_environment

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


async def command(address: DatabaseAddress, *words: str, lab: str = "ops_process.py", **environment: str) -> Ended:
    """Run the operators' command of a service whose database is at `address`."""
    return await run(
        sys.executable, str(_FOLDER / lab), *words, env=service_environment("order", address) | environment
    )
