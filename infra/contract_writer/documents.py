"""A service's contracts, read off its code: the events that it publishes, and its HTTP API."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from service_platform.event_bus import Event

SERVICES = ("order", "payment", "billing")
FOLDER = Path(__file__).resolve().parents[2] / "contracts"

# Any values do: an application is built to be described, and connects to nothing until it is served.
_SETTINGS: Mapping[str, Any] = {
    "environment": "development",
    "database_host": "described.invalid",
    "database_name": "described",
    "database_user": "described",
    "database_password": "described",
    "kafka_bootstrap_servers": "described.invalid",
    "redis_host": "described.invalid",
    "redis_password": "described",
    "jwt_issuer": "https://described.invalid/",
    "jwt_audience": "described",
    "jwt_jwks_url": "https://described.invalid/jwks.json",
    "stripe_api_key": "described",
    "smtp_host": "described.invalid",
    "mail_from": "described@example.com",
}


def documents(service: str) -> Iterator[tuple[Path, str]]:
    """Each contract file of `service` and its text."""
    folder = FOLDER / service
    yield folder / "events.json", _text(events(service))
    yield folder / "openapi.json", _text(application(service).openapi())


def events(service: str) -> list[dict[str, Any]]:
    """What `service` publishes, by name: version, key and the JSON schema of the payload."""
    module = importlib.import_module(f"{service}_service.events")
    classes = [
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Event) and member.source == service
    ]
    return [
        {
            "name": event.event_name,
            "version": event.version,
            "key": event.key_field,
            "payload": event.model_json_schema(mode="serialization"),
        }
        for event in sorted(classes, key=lambda event: event.event_name)
    ]


def application(service: str) -> FastAPI:
    """The service's HTTP application, composed as its own process does."""
    bootstrap = importlib.import_module(f"{service}_service.bootstrap")
    settings_class = getattr(importlib.import_module(f"{service}_service.settings"), f"{service.capitalize()}Settings")
    known = {name: value for name, value in _SETTINGS.items() if name in settings_class.model_fields}
    built = bootstrap.build_api(settings_class(service_name=service, **known))
    app = built if isinstance(built, FastAPI) else built.app
    assert isinstance(app, FastAPI)
    return app


def _text(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
