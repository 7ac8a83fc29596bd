"""Closed by default: every route says which scope it needs, or that it is public and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fastapi import Depends
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, RouteContext, iter_route_contexts
from starlette.requests import Request
from starlette.routing import BaseRoute

from .errors import ScopeMissing, TokenMissing
from .rate_limit import RateLimit
from .tokens import Principal, TokenVerifier

_PRINCIPAL = "fencepost.principal"


class UndeclaredRoute(RuntimeError):
    """A route says neither which scope it needs nor that it is public: the app does not start."""


class RequiredScope:
    """The dependency behind `require`."""

    def __init__(self, scope: str) -> None:
        self.scope = scope

    async def __call__(self, request: Request) -> Principal:
        principal = await authenticate(request)
        if not principal.may(self.scope):
            raise ScopeMissing(scope=self.scope)
        return principal


class DeclaredPublic:
    """The dependency behind `public`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    async def __call__(self) -> None:
        return None


def require(scope: str) -> Any:
    """Declare the scope that a route needs, and receive who asks:

        async def place(principal: Annotated[Principal, require("orders:write")]) -> …

    Without a valid token the caller gets 401, without the scope 403.
    """
    return Depends(RequiredScope(scope))


def public(reason: str) -> Any:
    """Declare that a route needs no token, and why: `@router.post("/webhooks", dependencies=[public("signed")])`."""
    if not reason:
        raise ValueError("say why the route is public")
    return Depends(DeclaredPublic(reason))


async def authenticate(request: Request) -> Principal:
    """Who asks, checked and counted once a request.

    Raises TokenMissing, TokenInvalid, KeysUnavailable or TooManyRequests.
    """
    known = request.scope.get(_PRINCIPAL)
    if isinstance(known, Principal):
        return known
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise TokenMissing
    verifier: TokenVerifier = request.app.state.token_verifier
    principal = await verifier.verify(token.strip())
    rate_limit: RateLimit | None = request.app.state.rate_limit
    if rate_limit is not None:
        await rate_limit.count(principal.subject)
    request.scope[_PRINCIPAL] = principal
    return principal


def check_every_route(routes: Sequence[BaseRoute]) -> None:
    """Raises UndeclaredRoute, naming them all, when a route declares no scope and is not public.

    What is no API route (a mount, a websocket, a plain route) cannot declare anything and is refused too.
    """
    undeclared = [_name(route) for route in iter_route_contexts(routes) if not _declared(route)]
    if undeclared:
        raise UndeclaredRoute(
            f"These routes declare no scope: {', '.join(undeclared)}. Give each a parameter "
            'Annotated[Principal, require("things:read")], or dependencies=[public("why")].'
        )


def required_scope(route: RouteContext) -> str | None:
    """The scope that a route declares; None for a public one."""
    return next((call.scope for call in _calls(route) if isinstance(call, RequiredScope)), None)


def _declared(route: RouteContext) -> bool:
    return any(isinstance(call, RequiredScope | DeclaredPublic) for call in _calls(route))


def _calls(route: RouteContext) -> Iterator[object]:
    if isinstance(route.original_route, APIRoute):
        yield from _calls_below(route.dependant)


def _calls_below(dependant: Dependant) -> Iterator[object]:
    for dependency in dependant.dependencies:
        yield dependency.call
        yield from _calls_below(dependency)


def _name(route: RouteContext) -> str:
    methods = ",".join(sorted(route.methods or ())) or type(route.original_route).__name__
    return f"{methods} {route.path} ({route.name})"
