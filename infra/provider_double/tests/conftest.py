from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import stripe

from provider_double.testing import API_KEY, ProviderProcess
from world.waiting import eventually

Sdk = Callable[[ProviderProcess], stripe.StripeClient]
Held = Callable[[httpx.AsyncClient, int], Awaitable[list[dict[str, Any]]]]


@pytest.fixture(scope="session")
def provider_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProviderProcess]:
    process = ProviderProcess(tmp_path_factory.mktemp("provider"))
    process.start()
    yield process
    process.stop()


@pytest.fixture
def own_provider(tmp_path: Path) -> Iterator[ProviderProcess]:
    """A process that the test may kill and start again."""
    process = ProviderProcess(tmp_path)
    process.start()
    yield process
    process.kill()


@pytest.fixture
async def double(provider_process: ProviderProcess) -> AsyncIterator[httpx.AsyncClient]:
    """The control API of a double that knows nothing yet."""
    async with httpx.AsyncClient(verify=False, base_url=f"{provider_process.url}/_double", timeout=30) as client:
        (await client.post("/reset")).raise_for_status()
        yield client


@pytest.fixture
async def sdk_for() -> AsyncIterator[Sdk]:
    """Makes official SDK clients without their own retries, so that a test sees each answer.

    No certificates: nothing here speaks TLS, and loading them is most of the time of a short test.
    """
    opened: list[stripe.HTTPXClient] = []

    def make(process: ProviderProcess) -> stripe.StripeClient:
        opened.append(stripe.HTTPXClient(verify_ssl_certs=False))
        return stripe.StripeClient(
            API_KEY, base_addresses={"api": process.url}, http_client=opened[-1], max_network_retries=0
        )

    yield make
    for http in opened:
        await http.close_async()  # type: ignore[no-untyped-call]


@pytest.fixture
def sdk(provider_process: ProviderProcess, double: httpx.AsyncClient, sdk_for: Sdk) -> stripe.StripeClient:
    """The SDK on the double that `double` controls."""
    return sdk_for(provider_process)


@pytest.fixture
def held() -> Held:
    """Waits until exactly so many calls are held, and returns them."""

    async def wait(control: httpx.AsyncClient, count: int = 1) -> list[dict[str, Any]]:
        async def held_now() -> list[dict[str, Any]]:
            calls: list[dict[str, Any]] = (await control.get("/held")).json()
            return calls

        return await eventually(
            held_now, until=lambda calls: len(calls) == count, what=f"{count} calls are held", every=0.01
        )

    return wait
