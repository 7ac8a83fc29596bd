"""A running suite with everything that a scenario needs to watch it and to break it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from demo.clients import Clients
from demo.suite import Suite
from native.stack import Stack

from .bus import Bus
from .databases import Databases
from .operators import Operators
from .outboxes import Outboxes
from .story import Story


@dataclass(frozen=True)
class World:
    """The suite of one test."""

    stack: Stack
    suite: Suite
    story: Story
    databases: Databases
    bus: Bus
    operators: Operators
    outboxes: Outboxes


def have_all_up(stack: Stack) -> None:
    """Start what is down and wait until everything is ready, whatever an earlier scenario did to it."""
    for process in stack.processes():
        if not process.is_up:
            stack.start(process.name, wait=False)
    stack.wait_until_ready()


@contextlib.asynccontextmanager
async def open_world(stack: Stack) -> AsyncIterator[World]:
    """The world of a running stack; at the end every process that the test stopped or scaled is as it was."""
    suite = Suite(port_base=stack.port_base, state_dir=stack.layout.state)
    databases = Databases(stack)
    outboxes = Outboxes(stack, databases)
    bus = Bus(stack.topology.kafka_address)
    async with Clients(suite, patience=30.0) as clients:
        try:
            yield World(stack, suite, Story(suite, clients), databases, bus, Operators(suite), outboxes)
        finally:
            await outboxes.close()
            await databases.close()
