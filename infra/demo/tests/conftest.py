"""The fake suite on ports of its own."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import uvicorn

from demo.suite import Suite
from demo.tests.fake_suite import FakeSuite, fake_app
from native.credentials import make_secrets

_OFFSETS = (1, 2, 3, 10, 20)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Where the fake suite is: a state folder with fresh keys, and a port base whose ports are free."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    make_secrets(secrets, ())
    return Suite(port_base=_free_base(), state_dir=tmp_path)


@pytest.fixture
def fake(suite: Suite) -> FakeSuite:
    return FakeSuite(suite.secrets)


@pytest_asyncio.fixture
async def running(suite: Suite, fake: FakeSuite) -> AsyncIterator[Suite]:
    """The fake suite, listening."""
    sockets = [socket.create_server(("127.0.0.1", suite.port_base + offset)) for offset in _OFFSETS]
    server = uvicorn.Server(uvicorn.Config(fake_app(fake), log_level="warning", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=sockets))
    try:
        yield suite
    finally:
        server.should_exit = True
        await serving
        for listening in sockets:
            listening.close()


def _free_base() -> int:
    """A base below the ports that the system hands out by itself, so that nobody takes one in between."""
    for base in range(15_000, 17_900, 100):
        if all(_is_free(base + offset) for offset in _OFFSETS):
            return base
    raise RuntimeError("no hundred ports between 15000 and 17900 has the demo's five free")


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
