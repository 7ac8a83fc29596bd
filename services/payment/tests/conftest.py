"""The provider double as a process, for the tests that go through the real SDK."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from provider_double.testing import ProviderProcess


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
