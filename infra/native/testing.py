"""The servers that the platform's and the services' tests share: Postgres, Valkey and Kafka, and no service.

They have their own state folder and ports, and so has each worker when a run has several.
FENCEPOST_PLATFORM_TEST_STATE and FENCEPOST_PLATFORM_TEST_PORTS move them, FENCEPOST_KEEP_STACK=1 leaves them running
for the next run.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from .go_tools import GoTool, NoGo
from .layout import ROOT
from .stack import Stack

KEEP_STACK = os.environ.get("FENCEPOST_KEEP_STACK") == "1"
"""Whether a stack of tests goes on after the run, for the next one. If not, it begins from nothing and is stopped."""

_STATE = Path(os.environ.get("FENCEPOST_PLATFORM_TEST_STATE", ROOT / ".fencepost" / "platform-test"))
_PORT_BASE = int(os.environ.get("FENCEPOST_PLATFORM_TEST_PORTS", "29000"))
_PORTS_A_WORKER = 100
_RUNNING = pytest.StashKey[Stack]()


def shared_servers(config: pytest.Config) -> Stack:
    """The one stack of this run, or of this worker: started when first asked for, stopped at the end; its logs stay.

    What an earlier run left is deleted first: it may be that of another checkout at the same path, whose secrets are
    gone.
    """
    if _RUNNING not in config.stash:
        state, ports = of_this_worker(_STATE, _PORT_BASE)
        stack = Stack(state, ports, port_setting="FENCEPOST_PLATFORM_TEST_PORTS")
        if not KEEP_STACK:
            stack.clean()
            config.add_cleanup(stack.down)
        stack.up(only_infrastructure=True)
        config.stash[_RUNNING] = stack
    return config.stash[_RUNNING]


def program_or_skip(tool: GoTool) -> Path:
    """The program of a Go tool. Who has no Go does without and is told; in CI it is required. No build may fail."""
    try:
        return tool.program()
    except NoGo as missing:
        _without(f"{missing}: install Go to run this")


def command_or_skip(name: str) -> str:
    """Where the command is. Who has not got it does without and is told; in CI it is required."""
    return shutil.which(name) or _without(f"{name} is not installed: install it to run this")


def _without(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def of_this_worker(state: Path, port_base: int) -> tuple[Path, int]:
    """A stack's folder and ports for this worker of a run (`gw0`, `gw1` and so on); unchanged in a run without."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return state, port_base
    return state.with_name(f"{state.name}-{worker}"), port_base + _PORTS_A_WORKER * int(worker.removeprefix("gw"))
