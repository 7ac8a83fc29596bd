"""The operators' command of the order service, as a process, on the service's own tables."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from sqlalchemy import text

from service_platform.database import Database


async def ops(database: Database, *words: str) -> tuple[int | None, str, str]:
    """Run `python -m order_service.main.ops` with these words: exit code, output, errors."""
    address = database.address
    settings = {
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
        "JWT_ISSUER": "https://issuer.example/",
        "JWT_AUDIENCE": "fencepost",
        "JWT_JWKS_URL": "file:///none",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "order_service.main.ops", *words),
        env=settings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), timeout=60)
    return process.returncode, out.decode(), err.decode()


async def test_an_operator_at_a_terminal_lists_dead_letters_and_is_audited(order_database: Database) -> None:
    code, out, err = await ops(
        order_database, "dead-letters", "list", "--event", "payment.settled", "--actor", "jane", "--json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out) == {"items": [], "next_cursor": None}
    async with order_database.read() as session:
        audited = (await session.execute(text("SELECT actor, via, action, outcome FROM operator_audit"))).one()
    assert tuple(audited) == ("jane", "command", "dead-letters list", "done")
