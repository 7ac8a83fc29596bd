"""What the services' OpenAPI documents say is how they behave: schemathesis makes requests of them, good and bad.

The cases are the same in every run. Each operation gets the example of its document, a number of requests that keep to
it, and a number that do not; all against the real application on a real database, half of them about things that exist.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import hypothesis
import pytest
import requests
import schemathesis
from callers import bearer
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from seeds import SEEDS
from served import served
from suite_apps import CUSTOMER_SCOPES, OWNER, STAFF_SCOPES, application

from native.topology import SERVICES
from world.service_databases import ServiceDatabases

CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
GOOD_CASES: Final = 20
BAD_CASES: Final = 8
OPERATOR_CASES: Final = 3
"""Of each kind, for an operator's action: their routes are the same code in every service."""
CURRENCIES: Final = ("EUR", "JPY", "KWD")
"""Of three letters at random, nearly none is a currency."""

NOT_AS_IT_STANDS: Final = {
    "POST /webhooks/card-provider": "webhook-refused",  # nobody signed it
    "GET /invoices/{invoice_id}/pdf": "document-not-ready",  # no worker runs here
    "GET /credit-notes/{credit_note_id}/pdf": "document-not-ready",
}


@dataclass
class Described:
    """A served application and what it says about itself."""

    service: str
    address: str
    seeded: dict[str, Any]
    session: requests.Session = field(default_factory=requests.Session)

    def operations(self) -> list[APIOperation]:
        schema = schemathesis.openapi.from_url(f"{self.address}/openapi.json")
        return [result.ok() for result in schema.get_all_operations()]


@pytest.fixture(scope="module", params=SERVICES)
def described(
    request: pytest.FixtureRequest, service_databases: ServiceDatabases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Described]:
    service = request.param
    with asyncio.Runner() as runner:
        made = service_databases.migrated(service)
        database = runner.run(made.__aenter__())

        async def seed() -> dict[str, Any]:
            async with database.opened() as opened:
                return await SEEDS[service](opened, OWNER)

        seeded = runner.run(seed())
        app = application(service, database, tmp_path_factory.mktemp(service))
        with served(app) as address:
            yield Described(service, address, seeded)
        runner.run(made.__aexit__(None, None, None))


def test_what_the_document_shows_works_when_it_is_sent_as_it_stands(described: Described) -> None:
    """It is what makes the test below one of real answers: without this, its cases could all be refused."""
    headers = bearer(OWNER, " ".join(sorted(CUSTOMER_SCOPES | STAFF_SCOPES)))
    refused = {}
    for operation in described.operations():
        if "/ops/" in operation.path:
            continue
        sent = operation.definition.raw.get("requestBody", {}).get("content", {}).get("application/json", {})
        address = described.address + operation.path.format(**described.seeded)
        body = {"json": sent["example"]} if sent else {}
        more = {"Idempotency-Key": "as-it-stands"} if "Idempotency-Key" in str(operation.definition.raw) else {}
        answer = described.session.request(operation.method, address, headers=headers | more, timeout=20, **body)
        if answer.status_code >= 300:
            refused[operation.label] = answer.json()["type"]
    expected = {label: slug for label, slug in NOT_AS_IT_STANDS.items() if label in refused}
    assert refused == expected


def test_no_request_breaks_a_route_or_is_answered_outside_of_the_document(described: Described) -> None:
    broken = {}
    headers = bearer(OWNER, " ".join(sorted(CUSTOMER_SCOPES | STAFF_SCOPES)))
    for operation in described.operations():
        for mode, cases in (GenerationMode.POSITIVE, GOOD_CASES), (GenerationMode.NEGATIVE, BAD_CASES):
            try:
                _try_out(described, operation, mode, OPERATOR_CASES if "/ops/" in operation.path else cases, headers)
            except BaseExceptionGroup as failures:
                broken[f"{operation.label}, {mode.value}"] = "\n".join(str(one) for one in failures.exceptions)
            except AssertionError as failure:
                broken[f"{operation.label}, {mode.value}"] = str(failure)
    assert not broken, "\n\n".join(f"{where}\n{what}" for where, what in broken.items())


def _try_out(
    described: Described, operation: APIOperation, mode: GenerationMode, cases: int, headers: dict[str, str]
) -> None:
    @hypothesis.settings(
        max_examples=cases,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=operation.as_strategy(generation_mode=mode), existing=st.booleans(), currency=st.sampled_from(CURRENCIES)
    )
    def tried(case: Case, existing: bool, currency: str) -> None:
        if existing and mode is GenerationMode.POSITIVE:
            case.path_parameters |= {
                name: str(described.seeded[name]) for name in case.path_parameters if name in described.seeded
            }
            if isinstance(case.body, dict) and "currency" in case.body:
                case.body["currency"] = currency
        case.call_and_validate(
            base_url=described.address, headers=headers, session=described.session, checks=CHECKS, timeout=20
        )

    tried()
