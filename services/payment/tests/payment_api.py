"""The payment service's HTTP application on a lab's database, and callers of it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
from payment_lab import PaymentLab
from pydantic import SecretStr

from payment_service.bootstrap import build_api
from payment_service.settings import PaymentSettings
from world.service_api import api_settings, bearer, client_of


def caller(scope: str = "payments:read_all", **headers: str) -> dict[str, str]:
    """The headers of somebody with that scope."""
    return bearer("eve", scope, **headers)


@contextlib.asynccontextmanager
async def payment_api(
    lab: PaymentLab,
    folder: Path,
    *,
    webhook_secret: str = "whsec_none",
    provider: tuple[str, str] = ("http://127.0.0.1:1", "none"),
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application, composed as its own process does. `provider`: address and key of the provider."""
    settings = PaymentSettings(
        **api_settings("payment", lab.database.address, folder),
        stripe_api_base=provider[0],
        stripe_api_key=SecretStr(provider[1]),
        stripe_webhook_secret=SecretStr(webhook_secret),
    )
    async with client_of(build_api(settings).app) as client:
        yield client
