"""Making a service's application from its routers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.types import Scope

from service_platform.errors import DomainError
from service_platform.idempotency import AlreadyAnswered
from service_platform.settings import ServiceSettings

from . import problems
from .access import check_every_route
from .docs import docs_router
from .edge import HttpEdge
from .health import ReadyCheck, health_router
from .idempotency import already_answered
from .keys import KeySet
from .openapi import describe
from .rate_limit import RateLimit
from .tokens import TokenVerifier

MAX_BODY_BYTES = 256 * 1024


def create_app(
    settings: ServiceSettings,
    *,
    title: str,
    routers: Sequence[APIRouter],
    version: str = "1.0.0",
    checks: Mapping[str, ReadyCheck] | None = None,
    closing: Sequence[Callable[[], Awaitable[None]]] = (),
    max_body_bytes: int = MAX_BODY_BYTES,
) -> FastAPI:
    """A service's HTTP application.

    `checks` by name decide `/health/ready`; `closing` is awaited in order at the end, whatever one of them raises.
    Raises UndeclaredRoute when a route declares no scope and is not public; it is checked again at the start, so
    that a route added later does not slip through.
    """

    rate_limit = (
        RateLimit(settings.rate_limit, redis_url=settings.redis_url(), service=settings.service_name)
        if settings.rate_limit != "off"
        else None
    )

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        check_every_route(app.routes)
        async with contextlib.AsyncExitStack() as stack:
            for close in reversed(closing):
                stack.push_async_callback(close)
            if rate_limit is not None:
                stack.push_async_callback(rate_limit.close)
            yield

    # No telemetry of FastAPI's own: the edge starts the one span of a request, and counts it.
    app = FastAPI(
        title=title,
        version=version,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.token_verifier = TokenVerifier(
        KeySet(settings.jwt_jwks_url), issuer=settings.jwt_issuer, audience=settings.jwt_audience
    )
    app.state.rate_limit = rate_limit
    app.add_exception_handler(DomainError, problems.domain_error)
    app.add_exception_handler(RequestValidationError, problems.validation_error)
    app.add_exception_handler(HTTPException, problems.http_exception)
    app.add_exception_handler(AlreadyAnswered, already_answered)
    for router in (*routers, health_router(checks or {}), docs_router(title)):
        app.include_router(router)
    app.add_middleware(HttpEdge, max_body_bytes=max_body_bytes, route_of=_RouteNames(app))
    describe(app)
    check_every_route(app.routes)
    return app


class _RouteNames:
    """The path template of the route that answered: a label with few values, unlike the path."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._templates: dict[object, str] = {}

    def __call__(self, scope: Scope) -> str:
        endpoint = scope.get("endpoint")
        if endpoint is None:
            return "unmatched"
        if endpoint not in self._templates:
            self._templates = {
                route.endpoint: route.path for route in iter_route_contexts(self._app.routes) if route.path is not None
            }
        return self._templates.get(endpoint, "unmatched")
