"""A service's HTTP API, read off its application."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import FastAPI

from service_platform.contracts import package_of
from service_platform.settings import ServiceSettings

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
    "stripe_webhook_secret": "described",
    "smtp_host": "described.invalid",
    "mail_from": "described@example.com",
}


@cache
def openapi_text(service: str) -> str:
    """The text of `openapi.json`. To build an application takes most of a second, and it says the same each time."""
    return json.dumps(application(service).openapi(), indent=2, ensure_ascii=False) + "\n"


def application(service: str) -> FastAPI:
    """The service's HTTP application, composed as its own process does."""
    bootstrap = importlib.import_module(f"{package_of(service)}.bootstrap")
    built = bootstrap.build_api(described_settings(service))
    app = built if isinstance(built, FastAPI) else built.app
    assert isinstance(app, FastAPI)
    return app


def described_settings(service: str) -> ServiceSettings:
    """Settings that the service's parts can be composed with, and nothing be reached by."""
    module = importlib.import_module(f"{package_of(service)}.settings")
    settings_class = getattr(module, f"{service.capitalize()}Settings")
    known = {name: value for name, value in _SETTINGS.items() if name in settings_class.model_fields}
    settings = settings_class(service_name=service, **known)
    assert isinstance(settings, ServiceSettings)
    return settings
