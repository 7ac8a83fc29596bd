"""The bench's own ground, for the one test that measures: a stack on ports of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.lab import Lab
from bench.settings import BenchSettings
from native.stack import Stack

_PORT_BASE = int(os.environ.get("FENCEPOST_BENCH_TEST_PORTS", "27800"))


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(BenchSettings(state_dir=tmp_path / "bench", port_base=_PORT_BASE))
    try:
        lab.open()
        yield lab
    finally:
        lab.close()


@pytest.fixture
def stack(lab: Lab) -> Stack:
    """By this name the suite knows that a test starts real servers."""
    return lab.stack
