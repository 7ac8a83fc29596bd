"""A minute of chaos with a fixed seed, on a stack of its own: the judge has nothing to object."""

import os
from collections.abc import Iterator

import pytest

from chaos.ground import Ground, prepared
from chaos.run import run_chaos
from chaos.toxiproxy import TOXIPROXY
from native.layout import ROOT
from native.testing import program_or_skip

_PORT_BASE = int(os.environ.get("FENCEPOST_CHAOS_PORT_BASE", "30000"))
_SEED = 7
_SECONDS = 60.0


@pytest.fixture
def stack() -> Iterator[Ground]:
    """By this name the suite knows that a test starts real servers."""
    toxiproxy = program_or_skip(TOXIPROXY)
    with prepared(ROOT / ".fencepost" / "chaos-test", _PORT_BASE, toxiproxy=toxiproxy) as ground:
        yield ground


async def test_a_minute_of_chaos_ends_with_one_outcome_an_order_and_nothing_left_to_do(stack: Ground) -> None:
    verdict = await run_chaos(stack, seed=_SEED, duration=_SECONDS, a_second=2.0, told=print)

    assert verdict.stands, str(verdict)
    dealt = [one for one in verdict.struck if one.missed is None]
    assert len(dealt) > _SECONDS / 6
    assert verdict.orders > _SECONDS
    assert verdict.regretted["cancelled"] > 0, "some were cancelled before any money moved"
    assert verdict.regretted["cancelled and refunded"] > 0, "and some after"
