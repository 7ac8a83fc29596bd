"""`python -m world list` and `python -m world run NAME`."""

from __future__ import annotations

import json
import os
import sys

import typer
from rich import box
from rich.console import Console
from rich.table import Column, Table

from world.catalogue import CATALOGUE
from world.patterns import ROOT
from world.plugin import LAST_OUTCOMES

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.command("list")
def list_scenarios() -> None:
    """List every scenario with its last outcome on this machine."""
    cache = ROOT / ".pytest_cache" / "v" / LAST_OUTCOMES
    last = json.loads(cache.read_text()) if cache.exists() else {}
    proven = _proven()
    table = Table("scenario, and what it proves", "state", Column("seconds", justify="right"), box=box.SIMPLE)
    for name, fact in CATALOGUE.items():
        if name not in proven:
            table.add_row(f"{name}\n  {fact}", "no test yet", "")
            continue
        outcome, seconds = last.get(name, ("not run here", None))
        table.add_row(f"{name}\n  {fact}", outcome, "" if seconds is None else f"{seconds:.1f}")
    Console().print(table)


@app.command()
def run(name: str) -> None:
    """Run the tests of one scenario, with their output."""
    if name not in CATALOGUE:
        raise typer.BadParameter(f"there is no scenario {name!r}: `make scenarios` lists them")
    os.execv(sys.executable, [sys.executable, "-m", "pytest", "-v", "--scenario", name])


def _proven() -> set[str]:
    """The scenarios whose name stands in a test's mark."""
    tests = [
        *ROOT.glob("tests/**/test_*.py"),
        *ROOT.glob("services/*/tests/**/test_*.py"),
        *ROOT.glob("platform/tests/**/test_*.py"),
    ]
    source = "\n".join(file.read_text() for file in tests)
    return {name for name in CATALOGUE if f'scenario("{name}")' in source}


if __name__ == "__main__":
    app()
