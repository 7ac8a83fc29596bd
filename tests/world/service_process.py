"""Processes of one service that tests start outside of any stack."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from service_platform.database import DatabaseAddress


def service_environment(service: str, address: DatabaseAddress) -> dict[str, str]:
    """What every process of `service` is told: where its database is, and that there is nothing else."""
    return {
        "PATH": os.environ["PATH"],
        "ENVIRONMENT": "development",
        "SERVICE_NAME": service,
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
    """A process that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


async def run(*argv: str, env: Mapping[str, str], within: float = 60) -> Ended:
    """Run it to its end. Raises TimeoutError when that takes more than `within` seconds."""
    process = await asyncio.create_subprocess_exec(
        *argv, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), timeout=within)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())
