"""What the commands of both runners share: errors with their mend, the scale, the walk of one order."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from rich.console import Console

from .errors import StackError

console = Console(highlight=False)
_errors = Console(stderr=True, highlight=False)

TERMINAL = ("LOGNAME", "USER", "LC_ALL", "LC_MESSAGES", "LANG", "TERM", "COLUMNS", "NO_COLOR")
"""What a command at a terminal needs of the caller's shell: who asks, in which language, on which screen."""

NEXT_STEPS = "make ps · make logs S=order-relay · make replay N=200 · make down"


@contextlib.contextmanager
def mending() -> Iterator[None]:
    """Within it a StackError is printed with its mend, and ends the command with 1."""
    try:
        yield
    except StackError as error:
        _errors.print(f"[red]{error}[/]", soft_wrap=True)
        _errors.print(f"[bold]{error.mend}[/]", soft_wrap=True)
        raise typer.Exit(1) from error


def replicas(text: str) -> dict[str, int]:
    """What `SCALE="order-relay=3 payment-worker=2"` says, by role.

    Raises:
        StackError: a part is not a role and a number.
    """
    counts = {}
    for part in text.replace(",", " ").split():
        role, _, count = part.partition("=")
        if not count.isdigit():
            raise StackError(f"{part!r} is no scale", 'Write it as in SCALE="order-relay=3 payment-worker=2".')
        counts[role] = int(count)
    return counts


def walk_one_order(state: Path, port_base: int) -> None:
    """Place an order on the running suite and print its journey.

    Raises:
        StackError: it did not arrive.
    """
    address = {"FENCEPOST_STATE_DIR": str(state), "FENCEPOST_PORT_BASE": str(port_base)}
    sys.stdout.flush()
    journey = subprocess.run([sys.executable, "-m", "demo", "journey"], env=os.environ | address, check=False)
    if journey.returncode != 0:
        raise StackError("the order did not arrive", "The suite stays up: make ps, make logs S=order")
