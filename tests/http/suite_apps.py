"""The three services as applications, composed as their own processes do, each on a database with things in it."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
from callers import AUDIENCE, ISSUER, write_keys
from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from pydantic import SecretStr
from seeds import SEEDS

from contract_writer.openapi import described_settings
from service_platform.contracts import package_of
from service_platform.http.access import required_scope
from world.service_databases import ServiceDatabase, ServiceDatabases

OWNER: Final = "ann"
"""The customer whose things stand in every database."""

CUSTOMER_SCOPES: Final = frozenset({"orders:read", "orders:write", "invoices:read"})
"""What a customer's own token carries: with these alone, each sees what is theirs."""

STAFF_SCOPES: Final = frozenset({"orders:read_all", "invoices:read_all", "payments:read_all", "payments:refund", "ops"})
"""What only people of the shop have."""


@dataclass(frozen=True)
class Route:
    """One method of one route. `scope` is None where it is declared public."""

    method: str
    path: str
    scope: str | None
    context: RouteContext

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> list[str]:
        """The names in the path."""
        return [part[1:-1].partition(":")[0] for part in self.path.split("/") if part.startswith("{")]

    def at(self, **values: object) -> str:
        """The address with these values."""
        return self.path.format(**values)


@dataclass(frozen=True)
class SuiteApp:
    """A service behind a client, with the ids of what OWNER has in it, by the names that paths have for them."""

    service: str
    app: FastAPI
    client: httpx.AsyncClient
    database: ServiceDatabase
    seeded: dict[str, UUID]

    def routes(self) -> Iterator[Route]:
        """Every route of the application, whoever added it."""
        for context in iter_route_contexts(self.app.routes):
            assert context.path is not None
            for method in sorted(context.methods or ()):
                yield Route(method, context.path, required_scope(context), context)

    async def ask(self, route: Route, address: str, headers: dict[str, str]) -> httpx.Response:
        """A call of the route, with an empty object as its body where it takes one."""
        body: dict[str, Any] = {"json": {}} if route.method in {"POST", "PUT", "PATCH"} else {}
        return await self.client.request(route.method, address, headers=headers, **body)


@contextlib.asynccontextmanager
async def suite_app(service: str, databases: ServiceDatabases, folder: Path) -> AsyncIterator[SuiteApp]:
    """The application of `service`, without a server between."""
    async with databases.migrated(service) as database, database.opened() as opened:
        app = application(service, database, folder)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"http://{service}") as client,
        ):
            yield SuiteApp(service, app, client, database, await SEEDS[service](opened, OWNER))


def application(service: str, database: ServiceDatabase, folder: Path, **changes: Any) -> FastAPI:
    """The application as its own process composes it, but for its addresses."""
    settings = described_settings(service).model_copy(
        update={
            "database_host": database.app.host,
            "database_port": database.app.port,
            "database_name": database.app.name,
            "database_user": database.app.user,
            "database_password": SecretStr(database.app.password),
            "rate_limit": "off",
            "jwt_issuer": ISSUER,
            "jwt_audience": AUDIENCE,
            "jwt_jwks_url": write_keys(folder),
            **changes,
        }
    )
    built = importlib.import_module(f"{package_of(service)}.bootstrap").build_api(settings)
    return built if isinstance(built, FastAPI) else built.app


def anything_for(route: Route) -> dict[str, object]:
    """Values for the path that fit their types and name nothing that exists."""
    path_fields = {field.name: field for field in route.context.dependant.path_params}
    return {name: _anything(path_fields[name].field_info.annotation) for name in route.parameters}


def _anything(annotation: object) -> object:
    if annotation is UUID:
        return uuid4()
    return 2**40 if annotation is int else "nothing-of-this-name"
