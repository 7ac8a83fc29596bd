"""Real purchases through the public API, reconciled to the cent; also while processes are killed."""

from __future__ import annotations

import asyncio

import pytest

from demo.purchases import read_purchases
from demo.replay import Outcome, Replay
from world.processes import family, kill
from world.waiting import eventually
from world.world import World

KILLED_IN_TURN = [
    "order-api",
    "order-relay",
    "payment-consumer",
    "payment-worker",
    "valkey",
    "payment-relay",
    "billing-consumer",
    "billing-worker",
    "kafka",
    "billing-relay",
    "order-consumer",
    "postgres",
    "payment-scheduler",
    "mail",
    "provider",
]


def agrees(outcome: Outcome) -> bool:
    """Whether the reconcile found nothing; the assertion's message names what it found."""
    assert outcome.stood_still is None, outcome.stood_still
    assert not outcome.disagreements, "\n".join(map(str, outcome.disagreements[:20]))
    return True


@pytest.mark.scenario("suite/replay-reconciles")
async def test_real_purchases_agree_to_the_cent_at_the_end(world: World) -> None:
    purchases = read_purchases()[:100]
    outcome = await Replay(world.suite, purchases).play()
    assert agrees(outcome)
    assert len(outcome.records.answers) == len(purchases)


async def test_the_replay_reconciles_although_every_kind_of_process_is_killed_during_it(world: World) -> None:
    purchases = read_purchases()[100:400]
    playing = asyncio.create_task(Replay(world.suite, purchases, concurrency=4).play())
    try:
        for name in KILLED_IN_TURN:
            before = kill(world.stack, name)

            async def is_back(name: str = name, before: int = before) -> bool:
                return any(state.name == name and state.pid not in (None, before) for state in world.stack.processes())

            await eventually(is_back, what=f"the runner has started {name} again", within=60)
        assert agrees(await playing)
    finally:
        playing.cancel()
    assert family(world.stack, "order-api")
