"""What the payment service's tests stand on: its database, and the provider double as a process."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import asyncpg.protocol
import httpx
import pytest
import stripe
from crash_points import CrashLab, InProcessProvider
from payment_lab import PaymentLab

from payment_service.integrations import StripeCardProvider
from provider_double.testing import API_KEY, ProviderProcess
from service_platform.database import DatabaseAddress
from world.crashing import WatchedProtocol
from world.logs import silent_logs


@pytest.fixture(scope="session")
def provider_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProviderProcess]:
    """The double, for as long as the tests run."""
    process = ProviderProcess(tmp_path_factory.mktemp("provider"))
    process.start()
    yield process
    process.stop()


@pytest.fixture
async def double(provider_process: ProviderProcess) -> AsyncIterator[httpx.AsyncClient]:
    """The control API of a double that knows nothing yet."""
    async with httpx.AsyncClient(base_url=f"{provider_process.url}/_double", timeout=10, trust_env=False) as client:
        (await client.post("/reset")).raise_for_status()
        yield client


@pytest.fixture
def unused_address() -> Iterator[str]:
    """An address that refuses connections: bound, so that nobody else takes it, and not listening."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@pytest.fixture
async def lab(
    service_databases: Any, provider_process: ProviderProcess, double: httpx.AsyncClient
) -> AsyncIterator[PaymentLab]:
    """The service on its own database and, through the real SDK, on the provider double."""
    provider = StripeCardProvider(api_key=API_KEY, api_base=provider_process.url)
    async with service_databases.migrated("payment") as made, made.opened() as database:
        yield PaymentLab(database, made.owner, provider, double)
    await provider.close()


@pytest.fixture
async def crash_lab(service_databases: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[CrashLab]:
    """Two workers on one database and a double in this process, which can be disturbed at every statement and call."""
    monkeypatch.setattr(asyncpg.protocol, "Protocol", WatchedProtocol)
    monkeypatch.setattr(stripe.HTTPClient, "INITIAL_DELAY", 0.01)  # the SDK's pause before it sends a call again
    async with service_databases.migrated("payment") as made:
        owner, watcher = await _connected(made.owner), await _connected(made.app)
        lab = CrashLab(made.app, owner, watcher, InProcessProvider(tmp_path))
        with silent_logs():
            yield lab
        await lab.close()
        await owner.close()
        await watcher.close()


async def _connected(address: DatabaseAddress) -> asyncpg.Connection[asyncpg.Record]:
    return await asyncpg.connect(**address.driver_arguments())
