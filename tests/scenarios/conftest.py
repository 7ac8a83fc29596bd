"""The scenarios' own stack: its ports, its folder, and never the one that `make up` runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from native.stack import Stack
from world.patterns import ROOT
from world.world import PORT_BASE, World, open_world


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The whole suite, started from nothing once for all scenarios, ended after them."""
    stack = Stack(ROOT / ".fencepost" / "test", PORT_BASE, say=print)
    stack.clean()
    stack.up()
    yield stack
    stack.down()


@pytest.fixture
async def world(stack: Stack) -> AsyncIterator[World]:
    """The suite with all its processes up, whatever an earlier scenario did to them."""
    stack.up()
    async with open_world(stack) as world:
        yield world
