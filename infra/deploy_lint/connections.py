"""How many connections to PostgreSQL the processes open at most, against what the server lets in.

A server that is full refuses whoever comes next, and that is a process that was just restarted. So the sum is looked at
before: each pool, what the loops of a process open beside it (a connection each, `OPENED`), and an operator's command.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from native.layout import ROOT
from native.topology import KINDS, SERVICES
from rules import Breach
from service_platform.jobs import CHILD_POOL_SIZE
from service_platform.ops.command import CONNECTIONS as OF_A_COMMAND
from service_platform.settings import ServiceSettings

from .environment import environment_of, filled_in

BESIDE_THE_POOL: Final = {"api": 1, "relay": 3, "consumer": 1, "scheduler": 0}
"""The wake-up; the relay's loops for events, for its assistant and for jobs; the wake-up; none."""

A_CHILD: Final = CHILD_POOL_SIZE + 2
"""A worker's child: its pool, its wake-up and its lease keeper. The worker itself keeps none."""

A_MIGRATION: Final = 2
OPERATORS: Final = OF_A_COMMAND * len(SERVICES)
"""One command at a time in each service."""

RESERVED: Final = 3
"""superuser_reserved_connections, as PostgreSQL has it: backups and people get in when all else is taken."""

OPENED: Final = {
    "platform/src/service_platform/bootstrap.py": ["Database"],  # DATABASE_POOL_SIZE
    "platform/src/service_platform/database/engine.py": ["create_async_engine"],  # what a Database is made of
    "platform/src/service_platform/database/migrations.py": ["create_async_engine"],  # A_MIGRATION
    "platform/src/service_platform/jobs/child.py": ["Database"],  # A_CHILD
    "platform/src/service_platform/jobs/keeper.py": ["asyncpg.connect"],  # A_CHILD
    "platform/src/service_platform/jobs/worker.py": ["Database"],  # closed before there is a child
    "platform/src/service_platform/ops/command.py": ["Database"],  # OPERATORS
    "platform/src/service_platform/outbox/connection.py": ["asyncpg.connect"],  # what the next two open
    "platform/src/service_platform/outbox/relay.py": ["open_connection", "open_connection"],  # BESIDE_THE_POOL
    "platform/src/service_platform/outbox/wake_up.py": ["open_connection"],  # BESIDE_THE_POOL
}
"""Every place that opens connections, and where above it is counted."""

_OPENERS = frozenset(
    {"Database", "create_async_engine", "create_engine", "open_connection", "asyncpg.connect", "asyncpg.create_pool"}
)
_DEFAULTS = {
    name.upper(): str(ServiceSettings.model_fields[name].default)
    for name in ("database_pool_size", "worker_concurrency")
}
_LIMIT = re.compile(r"max_connections=(\d+)")


def connections_of(name: str, service: Mapping[str, Any]) -> int:
    """What one container of `service` opens at most; 0 when it is no process of a service."""
    _, _, kind = name.rpartition("-")
    told = _DEFAULTS | environment_of(service)
    if kind == "migrate":
        return A_MIGRATION
    if kind == "worker":
        return int(filled_in(told["WORKER_CONCURRENCY"])) * A_CHILD
    if kind not in KINDS:
        return 0
    return int(filled_in(told["DATABASE_POOL_SIZE"])) + BESIDE_THE_POOL[kind]


def places(services: Mapping[str, Any]) -> int:
    """How many connections the server of this file has for others than superusers."""
    command = services.get("postgres", {}).get("command", "")
    limit = _LIMIT.search(command if isinstance(command, str) else " ".join(command))
    return int(limit[1] if limit else 100) - RESERVED


def compose_connections(services: Mapping[str, Any], *, times: int = 1) -> int:
    """The most that docker-compose.yaml opens, with `times` of each process that can be scaled.

    Migrations are not in it: they are over before anything else starts.
    """
    total = OPERATORS
    for name, service in services.items():
        if not name.endswith("-migrate"):
            total += connections_of(name, service) * (1 if name.endswith("-api") else times)
    return total


def stack_connections(services: Mapping[str, Any]) -> int:
    """The most that the stack opens: while all kinds are updated at once, each has one container more."""
    total = OPERATORS
    for name, service in services.items():
        deploy = service.get("deploy", {})
        starts_first = deploy.get("update_config", {}).get("order") == "start-first"
        total += connections_of(name, service) * (int(deploy.get("replicas", 1)) + starts_first)
    return total


def too_many(opened: int, services: Mapping[str, Any], when: str) -> Iterator[Breach]:
    """The one breach of both files' rules."""
    if opened > places(services):
        yield Breach(
            "postgres",
            f"{when} the processes open up to {opened} connections, and it lets {places(services)} in",
            "Raise max_connections and its memory limit, or lower DATABASE_POOL_SIZE, WORKER_CONCURRENCY, replicas.",
        )


def source_breaches(root: Path = ROOT) -> list[Breach]:
    """Connections that are opened where nobody counts them."""
    found = {}
    for source in [*root.glob("platform/src/**/*.py"), *root.glob("services/*/src/**/*.py")]:
        called = (node.func for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Call))
        if names := sorted(name for name in map(ast.unparse, called) if name in _OPENERS):
            found[str(source.relative_to(root))] = names
    return [
        Breach(
            path,
            f"it opens connections by {found.get(path, 'nothing')}, and counted is {OPENED.get(path, 'nothing')}",
            "Count them in infra/deploy_lint/connections.py, so that the server's limit is kept, and say so in OPENED.",
        )
        for path in sorted(found.keys() | OPENED.keys())
        if found.get(path) != OPENED.get(path)
    ]
