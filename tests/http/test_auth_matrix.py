"""Every route of the three services, with everything that must not open it. The routes are the applications' own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from callers import bearer, refused_headers
from suite_apps import CUSTOMER_SCOPES, OWNER, STAFF_SCOPES, Route, SuiteApp, anything_for, suite_app

from native.topology import SERVICES
from world.service_databases import ServiceDatabases

pytestmark = pytest.mark.asyncio(loop_scope="module")

PUBLIC = {
    "GET /docs",
    "GET /health/live",
    "GET /health/ready",
    "GET /metrics",
    "GET /openapi.json",
    "POST /webhooks/card-provider",
}
"""All that may be open without a token. Add a route here only with somebody else's eyes on it."""


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=SERVICES)
async def suite(
    request: pytest.FixtureRequest, service_databases: ServiceDatabases, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SuiteApp]:
    async with suite_app(request.param, service_databases, tmp_path_factory.mktemp(request.param)) as suite:
        yield suite


def guarded(suite: SuiteApp) -> list[tuple[Route, str]]:
    """The routes that need a scope, and which."""
    return [(route, route.scope) for route in suite.routes() if route.scope is not None]


def breach(route: Route, answer: httpx.Response, status: int, slug: str) -> str | None:
    """What is wrong with the answer; None if it is that problem."""
    if answer.headers.get("content-type") != "application/problem+json":
        return f"{route}: {answer.status_code} {answer.headers.get('content-type')} instead of a problem"
    told = answer.json()
    expected = (status, status, slug, answer.headers["x-correlation-id"])
    found = (answer.status_code, told.get("status"), told.get("type"), told.get("correlation_id"))
    return None if found == expected and told.get("title") else f"{route}: {found} instead of {expected}"


@pytest.mark.parametrize("wrong", refused_headers(""))
async def test_nothing_but_a_good_token_opens_a_route(suite: SuiteApp, wrong: str) -> None:
    breaches = []
    for route, scope in guarded(suite):
        headers, slug = refused_headers(scope)[wrong]
        answer = await suite.ask(route, route.at(**anything_for(route)), headers)
        breaches.append(breach(route, answer, 401, slug))
        if not answer.headers.get("www-authenticate", "").startswith("Bearer"):
            breaches.append(f"{route}: does not say what it wants (WWW-Authenticate)")
    assert breaches, "there are routes"
    assert [found for found in breaches if found] == []


async def test_every_scope_but_its_own_does_not_open_a_route(suite: SuiteApp) -> None:
    breaches = []
    for route, scope in guarded(suite):
        others = (CUSTOMER_SCOPES | STAFF_SCOPES) - {scope}
        answer = await suite.ask(route, route.at(**anything_for(route)), bearer("mallory", " ".join(sorted(others))))
        breaches.append(breach(route, answer, 403, "scope-missing"))
        if answer.json().get("scope") != scope:
            breaches.append(f"{route}: does not say that it needs {scope}")
    assert [found for found in breaches if found] == []


async def test_another_customers_things_are_as_if_they_were_not_there(suite: SuiteApp) -> None:
    """On one thing's address: the answer is that for no such thing. In a list: nothing. On a staff route: no way in."""
    breaches = []
    bob = bearer("bob", " ".join(sorted(CUSTOMER_SCOPES)))
    ann = bearer(OWNER, " ".join(sorted(CUSTOMER_SCOPES)))
    for route, scope in guarded(suite):
        if scope in STAFF_SCOPES:
            answer = await suite.ask(route, route.at(**anything_for(route)), bob)
            breaches.append(breach(route, answer, 403, "scope-missing"))
        elif route.parameters:
            assert suite.seeded.keys() >= set(route.parameters), f"seeds.py has nothing for {route}: add it"
            theirs, nowhere = route.at(**suite.seeded), route.at(**anything_for(route))
            missing = (await suite.ask(route, nowhere, bob)).json()["type"]
            breaches.append(breach(route, await suite.ask(route, theirs, bob), 404, missing))
            own = await suite.ask(route, theirs, ann)
            if own.status_code >= 400 and own.json()["type"] == missing:
                breaches.append(f"{route}: not even its owner sees what was seeded, so this test sees nothing")
        elif route.method == "GET":
            items = [(await suite.client.get(route.path, headers=who)).json()["items"] for who in (bob, ann)]
            if items[0] or not items[1]:
                breaches.append(f"{route}: shows {len(items[0])} things of another, {len(items[1])} of one's own")
    assert [found for found in breaches if found] == []


async def test_every_scope_is_known_here_as_a_customers_or_the_staffs(suite: SuiteApp) -> None:
    assert {scope for _, scope in guarded(suite)} <= CUSTOMER_SCOPES | STAFF_SCOPES


async def test_without_a_token_only_these_routes_are_open_and_none_of_them_breaks(suite: SuiteApp) -> None:
    public = [route for route in suite.routes() if route.scope is None]
    assert {str(route) for route in public} <= PUBLIC
    for route in public:
        for headers, _ in ({}, ""), *refused_headers("").values():
            assert (await suite.ask(route, route.at(**anything_for(route)), headers)).status_code < 500, route
