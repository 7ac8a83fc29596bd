"""The scenarios' own stack: its ports, its folder, and never the one that `make up` runs. One for each worker.

FENCEPOST_KEEP_STACK=1 leaves it running for the next run, which then begins where this one ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from native.settings import StackSettings
from native.stack import Stack
from native.testing import KEEP_STACK, of_this_worker
from world.patterns import ROOT
from world.timeline import Timelines
from world.world import World, have_all_up, open_world

# Pauses that a scenario would otherwise wait for; what is proven does not depend on their length.
QUICK = {
    "EVENT_RETRY_FIRST_SECONDS": "0.2",
    "EVENT_RETRY_LIMIT_SECONDS": "2",
    "JOB_SWEEP_INTERVAL_SECONDS": "1",
    "JOB_RESEND_AFTER_SECONDS": "2",
}


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The whole suite, started from nothing once for all scenarios, ended after them."""
    settings = StackSettings(service_settings=QUICK)
    state, ports = of_this_worker(ROOT / ".fencepost" / "test", settings.test_port_base)
    stack = Stack(state, ports, settings=settings, port_setting="FENCEPOST_TEST_PORT_BASE", say=print)
    if not KEEP_STACK:
        stack.clean()
    stack.up()
    yield stack
    if not KEEP_STACK:
        stack.down()


@pytest.fixture
async def world(stack: Stack) -> AsyncIterator[World]:
    """The suite with all its processes up, whatever an earlier scenario did to them."""
    have_all_up(stack)
    async with open_world(stack) as world:
        yield world


@pytest.fixture(scope="session")
def timelines(stack: Stack) -> Iterator[Timelines]:
    """Databases in which time flies, on the stack's server."""
    timelines = Timelines(stack)
    yield timelines
    asyncio.run(timelines.close())
